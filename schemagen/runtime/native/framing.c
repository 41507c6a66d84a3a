/* TFRecord framing, and the CRC-32C that it is checked with.
 *
 *     frame = length: uint64 | masked CRC-32C of the length: uint32
 *           | record          | masked CRC-32C of the record: uint32      little-endian
 *
 * https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
 */
#define _POSIX_C_SOURCE 200809L
#include "core.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#elif defined(__aarch64__) && defined(__APPLE__)
#include <arm_acle.h>
#endif

enum { HEADER = 12, FOOTER = 4, FRAMING = HEADER + FOOTER };

/* The polynomial of Castagnoli, bits reversed. */
static const uint32_t POLYNOMIAL = 0x82f63b78u;

/* Three streams of so many bytes are summed up at once, as a step of one does not wait for
 * the steps of the others. */
enum { STREAM = 1024 };

static uint32_t byte_table[8][256];
static uint32_t shift_table[4][256]; /* over STREAM zeros */

typedef uint32_t (*Sum)(uint32_t, const uint8_t *, size_t);

/* --- By tables, where the processor has no instruction ------------------------------- */

static uint32_t sum_by_table(uint32_t crc, const uint8_t *at, size_t size) {
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    word ^= crc;
    crc = 0;
    for (int byte = 0; byte < 8; byte++) crc ^= byte_table[7 - byte][word >> 8 * byte & 0xff];
  }
  while (size--) crc = crc >> 8 ^ byte_table[0][(crc ^ *at++) & 0xff];
  return crc;
}

/* Return the sum that bytes before STREAM others have, as if those were zeros. */
static uint32_t shifted(uint32_t crc) {
  return shift_table[0][crc & 0xff] ^ shift_table[1][crc >> 8 & 0xff] ^
         shift_table[2][crc >> 16 & 0xff] ^ shift_table[3][crc >> 24];
}

/* --- By instruction ------------------------------------------------------------------ */

#if defined(__x86_64__)
#if defined(__clang__)
#define WITH_CRC __attribute__((target("sse4.2,crc32")))
#else
#define WITH_CRC __attribute__((target("sse4.2")))
#endif
#define STEP(crc, word) (uint32_t)_mm_crc32_u64(crc, word)
#define STEP_BYTE(crc, byte) _mm_crc32_u8(crc, byte)
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))
#define WITH_CRC __attribute__((target("+crc")))
#define STEP(crc, word) __crc32cd(crc, word)
#define STEP_BYTE(crc, byte) __crc32cb(crc, byte)
#ifdef __APPLE__
static int has_instruction(void) { return 1; } /* every Mac with such a processor has it */
#else
static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif
#endif

#ifdef WITH_CRC
WITH_CRC static uint32_t sum_by_instruction(uint32_t crc, const uint8_t *at, size_t size) {
  uint64_t a, b, c;
  for (; size >= 3 * STREAM; at += 3 * STREAM, size -= 3 * STREAM) {
    uint32_t second = 0, third = 0;
    for (size_t word = 0; word < STREAM; word += 8) {
      memcpy(&a, at + word, 8);
      memcpy(&b, at + word + STREAM, 8);
      memcpy(&c, at + word + 2 * STREAM, 8);
      crc = STEP(crc, a);
      second = STEP(second, b);
      third = STEP(third, c);
    }
    crc = shifted(shifted(crc) ^ second) ^ third;
  }
  for (; size >= 8; at += 8, size -= 8) {
    memcpy(&a, at, 8);
    crc = STEP(crc, a);
  }
  while (size--) crc = STEP_BYTE(crc, *at++);
  return crc;
}
#endif

static Sum sum = sum_by_table;

__attribute__((constructor)) static void prepare(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    byte_table[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; byte++)
    for (int at = 1; at < 8; at++) {
      uint32_t before = byte_table[at - 1][byte];
      byte_table[at][byte] = before >> 8 ^ byte_table[0][before & 0xff];
    }
  static const uint8_t zeros[STREAM];
  for (uint32_t byte = 0; byte < 256; byte++)
    for (int at = 0; at < 4; at++)
      shift_table[at][byte] = sum_by_table(byte << 8 * at, zeros, STREAM);
#ifdef WITH_CRC
  if (has_instruction()) sum = sum_by_instruction;
#endif
}

/* --- Frames -------------------------------------------------------------------------- */

/* Return the CRC-32C of bytes that come after others with a known one. */
EXPORT uint32_t crc32c(uint32_t crc, const uint8_t *data, int64_t size) {
  return ~sum(~crc, data, (size_t)size);
}

/* Rotated and offset, so that the sum of data that holds sums is not a simple one. */
static uint32_t masked(const uint8_t *data, int64_t size) {
  uint32_t crc = crc32c(0, data, size);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static int is_masked(const uint8_t *data, int64_t size, const uint8_t *stored) {
  uint32_t crc;
  memcpy(&crc, stored, 4);
  return crc == masked(data, size);
}

/* Return the length that is at a place, or -1 if its checksum is wrong or it is none. */
static int64_t length_at(const uint8_t *at) {
  uint64_t length;
  memcpy(&length, at, 8);
  return length <= INT64_MAX && is_masked(at, 8, at + 8) ? (int64_t)length : -1;
}

/* Look at frames whose places are known. `wrong` becomes 1 for each that is damaged: its
 * length is not that of its place, or a checksum is wrong; else 0. Return how many are. */
EXPORT int64_t frames_check(const uint8_t *data, const int64_t *starts, const int64_t *stops,
                            int64_t count, uint8_t *wrong) {
  int64_t found = 0;
  for (int64_t at = 0; at < count; at++) {
    const uint8_t *frame = data + starts[at];
    int64_t size = stops[at] - starts[at] - FRAMING;
    wrong[at] = size < 0 || length_at(frame) != size ||
                !is_masked(frame + HEADER, size, frame + HEADER + size);
    found += wrong[at];
  }
  return found;
}

/* Follow frames from `start` on, to the first that ends at `until` or behind it.
 *
 * A length that is wrong, or that goes on behind `size` bytes, ends them.
 *
 * ends: becomes where each ends, if there is room: for `most` of them; may be NULL.
 * wrong: becomes 1 for each whose own checksum is wrong, else 0; NULL does not look.
 * end: becomes where the last one ends.
 */
EXPORT int64_t frames_follow(const uint8_t *data, int64_t size, int64_t start, int64_t until,
                             int64_t most, int64_t *ends, uint8_t *wrong, int64_t *end) {
  int64_t count = 0;
  for (; count < most && start < until && size - start >= FRAMING; count++) {
    const uint8_t *record = data + start + HEADER;
    int64_t length = length_at(data + start);
    if (length < 0 || length > size - start - FRAMING) break;
    if (wrong) wrong[count] = !is_masked(record, length, record + length);
    start += length + FRAMING;
    if (ends) ends[count] = start;
  }
  *end = start;
  return count;
}

/* Find places at which a length below 4 GiB has its right checksum, up to `most`.
 *
 * Zeros are not one, though their checksum is not zero either: a hole has them.
 */
EXPORT int64_t headers_find(const uint8_t *data, int64_t size, int64_t most, int64_t *places) {
  int64_t count = 0;
  for (int64_t at = 0; at + HEADER <= size && count < most; at++) {
    uint32_t high;
    memcpy(&high, data + at + 4, 4);
    if (!high && length_at(data + at) >= 0) places[count++] = at;
  }
  return count;
}

/* Write the length and the checksums of records whose bytes are in their places.
 *
 * ends: where each of `count` frames ends; they follow on one another.
 */
EXPORT void frames_fill(uint8_t *data, const int64_t *ends, int64_t count) {
  int64_t start = 0;
  for (int64_t at = 0; at < count; start = ends[at++]) {
    uint8_t *record = data + start + HEADER;
    int64_t size = ends[at] - start - FRAMING;
    uint32_t crc;
    memcpy(data + start, &size, 8);
    crc = masked(data + start, 8);
    memcpy(record - 4, &crc, 4);
    crc = masked(record, size);
    memcpy(record + size, &crc, 4);
  }
}
