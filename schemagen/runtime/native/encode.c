/* From columns to the bytes of tf.train.Examples and SequenceExamples, in their frames.
 *
 * The messages are those of decode.c. Equal rows give equal bytes: entries come in the order
 * of the columns, numbers are packed, and every size is the shortest varint.
 *
 * A record holds its sizes before its contents, so rows are measured first.
 */
#include "core.h"

/* What a column holds. Of lists it is the field of a Feature. */
enum Form { ENTRIES, BYTES, FLOAT, INT64 };

enum { SIZED = 2, FIRST = 1 << 3 | SIZED, SECOND = 2 << 3 | SIZED };

/* What becomes of the entries of a row. */
enum Message { BARE, EXAMPLE, SEQUENCE_EXAMPLE };

/* The feature that each row has under a key; or what is written of it as it is. */
typedef struct {
  const uint8_t *key;
  int64_t key_size; /* -1 for a step of a feature list, which has no key */
  int32_t form;
  int32_t of_lists;      /* an entry of the map of feature lists */
  const int64_t *counts; /* how many values each row has; NULL for `each` */
  int64_t each;
  const int64_t *ints;           /* the values of all rows */
  const float *floats;           /* likewise */
  const uint8_t *const *places;  /* where each bytes value is, or the entry of each row */
  const int64_t *sizes;          /* how many bytes it has */
  int64_t next;                  /* the first value of the next row */
} Written;

/* --- Sizes --------------------------------------------------------------------------- */

static int64_t varint_size(uint64_t value) {
  int bits = 64 - __builtin_clzll(value | 1);
  return (bits * 9 + 64) / 64; /* bits / 7, rounded up */
}

/* How many bytes a field takes that has contents of a size. */
static int64_t field_size(int64_t size) { return 1 + varint_size((uint64_t)size) + size; }

/* How many bytes the list of a row takes: its values with their tags. */
static int64_t list_size(const Written *column, int64_t first, int64_t count) {
  int64_t size = 0;
  if (column->form == BYTES) {
    for (int64_t at = first; at < first + count; at++) size += field_size(column->sizes[at]);
    return size;
  }
  if (!count) return 0;
  if (column->form == FLOAT) return field_size(4 * count);
  for (int64_t at = first; at < first + count; at++)
    size += varint_size((uint64_t)column->ints[at]);
  return field_size(size);
}

/* How many bytes the entry of a row takes, given those of its list. */
static int64_t entry_size(const Written *column, int64_t list) {
  int64_t feature = field_size(list);
  if (column->key_size < 0) return field_size(feature);
  return field_size(field_size(column->key_size) + field_size(feature));
}

static int64_t count_of(const Written *column, int64_t row) {
  return column->counts ? column->counts[row] : column->each;
}

/* --- Bytes --------------------------------------------------------------------------- */

static uint8_t *write_varint(uint8_t *out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = (uint8_t)value | 0x80;
  *out++ = (uint8_t)value;
  return out;
}

/* Write a number below 2^56 without a branch for its length; eight bytes are overwritten.
 *
 * Groups of seven bits are moved apart: eight of them, then four, then two.
 */
static uint8_t *write_short_varint(uint8_t *out, uint64_t value) {
  int64_t size = varint_size(value);
  value = (value & 0x000000000fffffffu) | (value & 0x00fffffff0000000u) << 4;
  value = (value & 0x00003fff00003fffu) | (value & 0x0fffc0000fffc000u) << 2;
  value = (value & 0x007f007f007f007fu) | (value & 0x3f803f803f803f80u) << 1;
  value |= 0x8080808080808080u & (((uint64_t)1 << 8 * (size - 1)) - 1);
  memcpy(out, &value, 8);
  return out + size;
}

static uint8_t *write_numbers(uint8_t *out, const int64_t *numbers, int64_t count) {
  /* Each takes a byte or more, so there is room for eight where as many follow. */
  for (; count > 8; count--, numbers++) {
    uint64_t number = (uint64_t)*numbers;
    if (number < 0x80) *out++ = (uint8_t)number;
    else if (LIKELY(number < (uint64_t)1 << 56)) out = write_short_varint(out, number);
    else out = write_varint(out, number);
  }
  for (; count > 0; count--) out = write_varint(out, (uint64_t)*numbers++);
  return out;
}

static uint8_t *write_head(uint8_t *out, uint8_t tag, int64_t size) {
  *out++ = tag;
  return write_varint(out, (uint64_t)size);
}

static uint8_t *write_bytes(uint8_t *out, const uint8_t *bytes, int64_t size) {
  if (size) memcpy(out, bytes, (size_t)size);
  return out + size;
}

static uint8_t *write_list(uint8_t *out, const Written *column, int64_t first, int64_t count,
                           int64_t size) {
  if (column->form == BYTES) {
    for (int64_t at = first; at < first + count; at++) {
      out = write_head(out, FIRST, column->sizes[at]);
      out = write_bytes(out, column->places[at], column->sizes[at]);
    }
    return out;
  }
  if (!count) return out;
  if (column->form == FLOAT) {
    out = write_head(out, FIRST, 4 * count);
    return write_bytes(out, (const uint8_t *)(column->floats + first), 4 * count);
  }
  int64_t packed = size - 2; /* less the tag and the size, which take a byte each or more */
  while (field_size(packed) > size) packed--;
  out = write_head(out, FIRST, packed);
  return write_numbers(out, column->ints + first, count);
}

static uint8_t *write_entry(uint8_t *out, Written *column, int64_t row, int64_t list) {
  int64_t count = count_of(column, row), first = column->next;
  column->next += count;
  if (column->form == ENTRIES) return write_bytes(out, column->places[row], column->sizes[row]);
  int64_t feature = field_size(list);
  if (column->key_size >= 0) {
    out = write_head(out, FIRST, field_size(column->key_size) + field_size(feature));
    out = write_head(out, FIRST, column->key_size);
    out = write_bytes(out, column->key, column->key_size);
    out = write_head(out, SECOND, feature);
  } else {
    out = write_head(out, FIRST, feature);
  }
  out = write_head(out, (uint8_t)(column->form << 3 | SIZED), list);
  return write_list(out, column, first, count, list);
}

/* --- Records ------------------------------------------------------------------------- */

/* Measure rows.
 *
 * columns: `count` of them, in the order in which they are written.
 * message: what becomes of the entries of a row; but for BARE ones with room for a frame.
 * lists: becomes how many bytes the list of each column and row takes, [count, rows].
 * maps: becomes how many bytes the entries of each row take, [rows, 2]: features and lists.
 * ends: becomes where each row ends in all that is written, [rows].
 */
EXPORT void records_measure(const Written *columns, int64_t count, int64_t rows, int32_t message,
                            int64_t *lists, int64_t *maps, int64_t *ends) {
  memset(maps, 0, (size_t)rows * 2 * sizeof *maps);
  for (int64_t at = 0; at < count; at++) {
    const Written *column = &columns[at];
    int64_t next = 0;
    for (int64_t row = 0; row < rows; row++) {
      int64_t values = count_of(column, row), *map = &maps[2 * row + column->of_lists];
      if (column->form == ENTRIES) {
        *map += column->sizes[row];
      } else {
        int64_t list = lists[at * rows + row] = list_size(column, next, values);
        *map += entry_size(column, list);
        next += values;
      }
    }
  }
  int64_t end = 0;
  for (int64_t row = 0; row < rows; row++) {
    int64_t features = maps[2 * row], of_lists = maps[2 * row + 1];
    if (message == BARE) {
      end += features;
    } else {
      end += 16;
      if (features || message == EXAMPLE) end += field_size(features);
      if (message == SEQUENCE_EXAMPLE) end += field_size(of_lists);
    }
    ends[row] = end;
  }
}

/* Write some rows of those that were measured, the rows before which were written before.
 *
 * first, last: the rows from one to another.
 * out: as many bytes as `ends` says of them; what belongs to frames is left as it is.
 */
EXPORT void records_write(Written *columns, int64_t count, int64_t rows, int32_t message,
                          const int64_t *lists, const int64_t *maps, int64_t first, int64_t last,
                          uint8_t *out) {
  for (int64_t row = first; row < last; row++) {
    if (message != BARE) out += 12;
    for (int32_t of_lists = 0; of_lists < 2; of_lists++) {
      int64_t size = maps[2 * row + of_lists];
      if (message != BARE && (of_lists ? message == SEQUENCE_EXAMPLE : size || message == EXAMPLE))
        out = write_head(out, of_lists ? SECOND : FIRST, size);
      for (int64_t at = 0; at < count; at++)
        if (columns[at].of_lists == of_lists)
          out = write_entry(out, &columns[at], row, lists[at * rows + row]);
    }
    if (message != BARE) out += 4;
  }
}

/* Write numbers as varints; return where they end. `out` has room for ten bytes each. */
EXPORT int64_t varints_write(const int64_t *numbers, int64_t count, uint8_t *out) {
  return write_numbers(out, numbers, count) - out;
}
