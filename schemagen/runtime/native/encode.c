/* From columns to the bytes of tf.train.Examples and SequenceExamples, in their frames.
 *
 * The messages are those of decode.c. Equal rows give equal bytes: entries come in the order
 * of the columns, numbers are packed, and every size is the shortest varint.
 *
 * A record holds its sizes before its contents, so rows are measured first.
 */
#include "core.h"

/* What a column holds: the field of a Feature. */
enum Form { BYTES = 1, FLOAT, INT64 };

enum { SIZED = 2, FIRST = 1 << 3 | SIZED, SECOND = 2 << 3 | SIZED };

enum Message { EXAMPLE, SEQUENCE_EXAMPLE };

/* What each row has under a key: a feature, or a feature list. */
typedef struct {
  const uint8_t *key;
  int64_t key_size;
  int32_t form;
  int32_t of_lists;      /* each row has a feature list */
  const int64_t *steps;  /* how many features each list has, -1 for no list; NULL for one */
  const int64_t *counts; /* how many values each feature has, -1 for none; NULL for `each` */
  int64_t each;
  const int64_t *ints;          /* the values of all features */
  const float *floats;          /* likewise */
  const uint8_t *const *places; /* where each bytes value is */
  const int64_t *sizes;         /* how many bytes it has */
  int64_t next_feature;         /* the first feature of the next row */
  int64_t next;                 /* and its first value */
} Written;

/* --- Sizes --------------------------------------------------------------------------- */

static int64_t varint_size(uint64_t value) {
  int bits = 64 - __builtin_clzll(value | 1);
  return (bits * 9 + 64) / 64; /* bits / 7, rounded up */
}

/* How many bytes a field takes that has contents of a size. */
static int64_t field_size(int64_t size) { return 1 + varint_size((uint64_t)size) + size; }

/* How many bytes the contents of a field take that takes a size by itself. */
static int64_t contents_size(int64_t field) {
  int64_t size = field - 2; /* less the tag and the size, which take a byte each or more */
  while (field_size(size) > field) size--;
  return size;
}

/* How many bytes the list of a feature takes: its values with their tags. */
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

/* How many bytes the map entry of a row takes, given those of its value. */
static int64_t entry_size(const Written *column, int64_t value) {
  return field_size(field_size(column->key_size) + field_size(value));
}

static int64_t steps_of(const Written *column, int64_t row) {
  return column->steps ? column->steps[row] : 1;
}

static int64_t count_of(const Written *column, int64_t feature) {
  return column->counts ? column->counts[feature] : column->each;
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
  out = write_head(out, FIRST, contents_size(size));
  return write_numbers(out, column->ints + first, count);
}

/* Write the next feature, given the size of the value of its map entry. */
static uint8_t *write_feature(uint8_t *out, Written *column, int64_t value) {
  int64_t count = count_of(column, column->next_feature++), first = column->next;
  int64_t list = column->of_lists ? list_size(column, first, count) : contents_size(value);
  column->next += count;
  if (column->of_lists) out = write_head(out, FIRST, field_size(list));
  out = write_head(out, (uint8_t)(column->form << 3 | SIZED), list);
  return write_list(out, column, first, count, list);
}

/* Write the map entry of the next row, given the size of its value; -1 for none. */
static uint8_t *write_entry(uint8_t *out, Written *column, int64_t row, int64_t value) {
  int64_t steps = steps_of(column, row);
  if (value < 0) {
    column->next_feature += !column->of_lists;
    return out;
  }
  out = write_head(out, FIRST, field_size(column->key_size) + field_size(value));
  out = write_head(out, FIRST, column->key_size);
  out = write_bytes(out, column->key, column->key_size);
  out = write_head(out, SECOND, value);
  for (; steps > 0; steps--) out = write_feature(out, column, value);
  return out;
}

/* --- Records ------------------------------------------------------------------------- */

/* Return how many bytes the value of the next row takes in its map entry; -1 for no entry. */
static int64_t measure_value(const Written *column, int64_t row, int64_t *feature,
                             int64_t *next) {
  int64_t steps = steps_of(column, row), value = 0;
  if (steps < 0) return -1;
  for (; steps > 0; steps--) {
    int64_t count = count_of(column, (*feature)++);
    if (count < 0) return -1;
    int64_t size = field_size(list_size(column, *next, count));
    value += column->of_lists ? field_size(size) : size;
    *next += count;
  }
  return value;
}

/* Measure rows.
 *
 * columns: `count` of them, in the order in which they are written.
 * message: what the rows become, with room for a frame.
 * values: becomes how many bytes the value of each column and row takes, [count, rows].
 * maps: becomes how many bytes the entries of each row take, [rows, 2]: features and lists.
 * ends: becomes where each row ends in all that is written, [rows].
 */
EXPORT void records_measure(const Written *columns, int64_t count, int64_t rows, int32_t message,
                            int64_t *values, int64_t *maps, int64_t *ends) {
  memset(maps, 0, (size_t)rows * 2 * sizeof *maps);
  for (int64_t at = 0; at < count; at++) {
    const Written *column = &columns[at];
    int64_t feature = 0, next = 0;
    for (int64_t row = 0; row < rows; row++) {
      int64_t value = values[at * rows + row] = measure_value(column, row, &feature, &next);
      if (value >= 0) maps[2 * row + column->of_lists] += entry_size(column, value);
    }
  }
  int64_t end = 0;
  for (int64_t row = 0; row < rows; row++) {
    int64_t features = maps[2 * row], of_lists = maps[2 * row + 1];
    end += 16;
    if (features || message == EXAMPLE) end += field_size(features);
    if (message == SEQUENCE_EXAMPLE) end += field_size(of_lists);
    ends[row] = end;
  }
}

/* Write some rows of those that were measured, the rows before which were written before.
 *
 * first, last: the rows from one to another.
 * out: as many bytes as `ends` says of them; what belongs to frames is left as it is.
 */
EXPORT void records_write(Written *columns, int64_t count, int64_t rows, int32_t message,
                          const int64_t *values, const int64_t *maps, int64_t first,
                          int64_t last, uint8_t *out) {
  for (int64_t row = first; row < last; row++) {
    out += 12;
    for (int32_t of_lists = 0; of_lists < 2; of_lists++) {
      int64_t size = maps[2 * row + of_lists];
      if (of_lists ? message == SEQUENCE_EXAMPLE : size || message == EXAMPLE)
        out = write_head(out, of_lists ? SECOND : FIRST, size);
      for (int64_t at = 0; at < count; at++)
        if (columns[at].of_lists == of_lists)
          out = write_entry(out, &columns[at], row, values[at * rows + row]);
    }
    out += 4;
  }
}

/* Write numbers as varints; return where they end. `out` has room for ten bytes each. */
EXPORT int64_t varints_write(const int64_t *numbers, int64_t count, uint8_t *out) {
  return write_numbers(out, numbers, count) - out;
}
