/* From columns to the arrays that users get. */
#include "core.h"

/* Copy bytes values of any size, one behind the other.
 *
 * extents: where each of `count` values begins and ends in `data`.
 */
EXPORT void bytes_join(const uint8_t *data, const int64_t *extents, int64_t count, uint8_t *out) {
  for (int64_t at = 0; at < count; at++) {
    size_t size = (size_t)(extents[2 * at + 1] - extents[2 * at]);
    memcpy(out, data + extents[2 * at], size);
    out += size;
  }
}

static uint64_t mixed(uint64_t state, const uint8_t *data, size_t size) {
  uint64_t word = 0;
  memcpy(&word, data, size);
  word *= 0x9E3779B97F4A7C15u;
  state = (state ^ word ^ (word >> 32)) * 0xD6E8FEB86659FD93u;
  return state ^ (state >> 29);
}

/* Return a 64-bit digest of some bytes, in four lanes of eight bytes each.
 *
 * It tells equal values from others. It does not withstand those who look for collisions.
 */
static uint64_t digest(const uint8_t *data, size_t size) {
  uint64_t lanes[4] = {size, 1, 2, 3}, state;
  for (; size >= 32; data += 32, size -= 32)
    for (int lane = 0; lane < 4; lane++) lanes[lane] = mixed(lanes[lane], data + 8 * lane, 8);
  state = lanes[0];
  for (int lane = 1; lane < 4; lane++)
    state = mixed(state, (const uint8_t *)&lanes[lane], 8);
  for (; size >= 8; data += 8, size -= 8) state = mixed(state, data, 8);
  state = mixed(state, data, size) * 0x9E3779B97F4A7C15u;
  return state ^ (state >> 32);
}

/* Digest bytes values of any size.
 *
 * extents: where each of `count` values begins and ends in `data`.
 */
EXPORT void bytes_digest(const uint8_t *data, const int64_t *extents, int64_t count, uint64_t *out) {
  for (int64_t at = 0; at < count; at++) {
    size_t size = (size_t)(extents[2 * at + 1] - extents[2 * at]);
    out[at] = digest(data + extents[2 * at], size);
  }
}

/* Copy lists of any length into rows of one length, and fill what is left.
 *
 * values: the items of all lists, one list behind the other.
 * lengths: how many items each of `count` lists has; no more than `most`.
 * most: how many items a row has.
 * size: of an item, in bytes.
 * filler: an item.
 */
EXPORT void lists_pad(const uint8_t *values, const int64_t *lengths, int64_t count, int64_t most,
                      int64_t size, const uint8_t *filler, uint8_t *out) {
  int zeros = 1;
  for (int64_t at = 0; at < size; at++) zeros &= !filler[at];
  for (int64_t row = 0; row < count; row++) {
    size_t used = (size_t)(lengths[row] * size);
    memcpy(out, values, used);
    values += used;
    out += used;
    int64_t left = most - lengths[row];
    if (zeros) {
      memset(out, 0, (size_t)(left * size));
      out += left * size;
      continue;
    }
    for (; left > 0; left--, out += size) memcpy(out, filler, (size_t)size);
  }
}
