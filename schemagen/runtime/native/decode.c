/* From the bytes of tf.train.Examples and SequenceExamples to columns.
 *
 * An Example is a map from key to Feature, and a Feature holds one list: of bytes, floats
 * or int64s. Each message is a sequence of fields, and a field begins with a varint of its
 * number and wire type (`number << 3 | wire`):
 *
 *     Example         = (field 1: features)*
 *     SequenceExample = (field 1: features | field 2: feature lists)*
 *     features        = (field 1: entry)*            a map, by entries
 *     entry           = (field 1: key | field 2: feature)*
 *     feature         = (field 1: bytes list | 2: float list | 3: int64 list)*
 *     list            = (field 1: a value, or packed values)*
 *     feature lists   = (field 1: list entry)*       a map, by entries
 *     list entry      = (field 1: key | field 2: feature list)*
 *     feature list    = (field 1: feature)*          a feature for each step
 *
 * What is read is what protobuf reads: fields come in any order and number, the last list
 * of a feature counts, and of two entries of one key the last one does. Numbers are packed
 * or single.
 *
 * https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/example.proto
 * https://protobuf.dev/programming-guides/encoding/
 *
 * The first pass checks every byte, reads int64s, and notes which features there are and
 * where the values of others lie; so it is known how many values each column has. The second
 * pass fills arrays that the caller has made.
 */
#include "core.h"

enum Wire { VARINT, FIXED64, SIZED, GROUP_START, GROUP_END, FIXED32 };

enum Kind { NOTHING, BYTES, FLOAT, INT64, KINDS };

/* Sizes and tags have at most five bytes, as in protobuf; numbers ten. */
enum { SHORT_VARINT = 5, LONG_VARINT = 10 };

/* Why a record is malformed. `reasons` in native/__init__.py has the words. */
enum Reason {
  FINE,
  NO_END,          /* a varint without an end */
  FIELD_NUMBER,    /* a: the number */
  WIRE_TYPE,       /* a: the type */
  TOO_LONG,        /* a: by how many bytes a field is longer than what holds it */
  NOT_UTF8,        /* a key */
  NUMBER_AS_FIELD, /* a: the field's number, b: of which message */
  BYTES_AS_NUMBER, /* a bytes list that holds a number */
  PART_OF_FLOAT,   /* a: bytes in place of float values */
  FIXED_INT64,     /* fixed-width numbers in an int64 list */
  NO_MEMORY,
};

/* What a record has that readers pass over, or read differently. */
enum Fact {
  UNKNOWN_FIELD, /* a: the number, b: of which message */
  REPEATED_KEY,  /* key */
  UNUSUAL,       /* key; -1 for the map of features itself */
};

/* The messages that hold fields. `LIST + kind` is a list of values. */
enum Message { RECORD, MAP, ENTRY, FEATURE, FEATURE_LIST, LIST };

typedef struct {
  int64_t row, at;
  int32_t reason;
  int64_t a, b;
} Malformed;

typedef struct {
  int64_t row;
  int32_t fact, key;
  int64_t a, b;
} Noted;

/* The bytes of values: a bytes value, or a run of floats. */
typedef struct {
  int64_t begin, end;
} Extent;

/* A feature that a record has, or a step of a feature list. */
typedef struct {
  int64_t row;     /* of the record; of a step, its number in the record */
  int64_t first;   /* of its extents, or of its int64s in `numbers` */
  int64_t extents; /* how many there are */
  int64_t values;  /* how many there are */
  int32_t key;     /* -1 once another entry of this key has come */
  int32_t kind;
} Feature;

/* A feature list that a record has. */
typedef struct {
  int64_t row, steps;
  int64_t first; /* of its features, in `step_features` */
  int32_t key;
} FeatureList;

typedef struct {
  const uint8_t *name;
  int64_t size;
  int64_t hash;
  int64_t row;   /* the last record that has it */
  int64_t entry; /* its feature or feature list in that record */
} Key;

/* The keys of a map, by hash. */
typedef struct {
  Vector keys;    /* Key */
  int32_t *slots; /* of keys, -1 for none; a power of two of them */
  int64_t mask;
  int32_t next; /* the key that has come after the last one before */
} Keys;

typedef struct {
  const uint8_t *data;
  int64_t row;
  int unusual;     /* whether the map of features of the record that is read is noted so */
  Malformed fault; /* of that record */
  Keys features_by_key, lists_by_key;
  Vector features;      /* Feature */
  Vector step_features; /* Feature */
  Vector lists;         /* FeatureList */
  Vector extents;       /* Extent */
  Vector numbers;       /* int64_t */
  Vector malformed;     /* Malformed */
  Vector noted;         /* Noted */
  uint8_t *sequences;   /* a byte for each record */
} Reader;

/* --- Faults -------------------------------------------------------------------------- */

CHECKED static int fail(Reader *reader, const uint8_t *at, int reason, int64_t a, int64_t b) {
  reader->fault = (Malformed){reader->row, at ? at - reader->data : 0, reason, a, b};
  return 0;
}

CHECKED static int no_memory(Reader *reader) { return fail(reader, NULL, NO_MEMORY, 0, 0); }

/* Note a fact of a record, unless the last note says the same. */
CHECKED static int note(Reader *reader, int fact, int32_t key, int64_t a, int64_t b) {
  if (reader->noted.count) {
    const Noted *last = &ITEM(Noted, &reader->noted, reader->noted.count - 1);
    if (last->row == reader->row && last->fact == fact && last->key == key && last->a == a &&
        last->b == b)
      return 1;
  }
  return PUSH(Noted, &reader->noted, {reader->row, fact, key, a, b}) || no_memory(reader);
}

CHECKED static int unknown(Reader *reader, int64_t number, int64_t message) {
  return note(reader, UNKNOWN_FIELD, -1, number, message);
}

/* Note that the map of features is unusual: once, as a record may have any number of entries. */
CHECKED static int unusual_map(Reader *reader) {
  if (reader->unusual) return 1;
  reader->unusual = 1;
  return note(reader, UNUSUAL, -1, 0, 0);
}

/* --- Fields -------------------------------------------------------------------------- */

/* A field: its number, its wire type, and its contents. */
typedef struct {
  const uint8_t *tag;
  uint64_t number;
  int wire;
  Cursor contents;
} Field;

CHECKED static inline int next_field(Reader *reader, Cursor *cursor, Field *field) {
  const uint8_t *tag_at = cursor->at;
  uint64_t tag, size;
  if (LIKELY(cursor->end - tag_at >= 2 && (tag_at[0] & 0x87) == SIZED && tag_at[0] > 7 &&
             tag_at[1] < 0x80 && tag_at[1] <= cursor->end - tag_at - 2)) {
    /* A field of a usual record: tag and size take a byte each. */
    *field = (Field){tag_at, tag_at[0] >> 3, SIZED, {tag_at + 2, tag_at + 2 + tag_at[1]}};
    cursor->at = field->contents.end;
    return 1;
  }
  if (!read_varint(cursor, SHORT_VARINT, &tag)) return fail(reader, tag_at, NO_END, 0, 0);
  field->tag = tag_at;
  field->number = tag >> 3;
  field->wire = (int)(tag & 7);
  if (!field->number || tag > UINT32_MAX)
    return fail(reader, tag_at, FIELD_NUMBER, (int64_t)field->number, 0);
  const uint8_t *at = cursor->at;
  if (LIKELY(field->wire == SIZED)) {
    if (!read_varint(cursor, SHORT_VARINT, &size)) return fail(reader, at, NO_END, 0, 0);
    at = cursor->at;
  } else if (field->wire == VARINT) {
    if (!read_varint(cursor, LONG_VARINT, &size)) return fail(reader, at, NO_END, 0, 0);
    size = (uint64_t)(cursor->at - at);
  } else if (field->wire == FIXED64 || field->wire == FIXED32) {
    size = field->wire == FIXED64 ? 8 : 4;
  } else {
    return fail(reader, tag_at, WIRE_TYPE, field->wire, 0);
  }
  uint64_t left = (uint64_t)(cursor->end - at);
  if (size > left) return fail(reader, tag_at, TOO_LONG, (int64_t)(size - left), 0);
  field->contents = (Cursor){at, at + size};
  cursor->at = at + size;
  return 1;
}

/* Read the next field that is a message or text; others are unknown. 2 for unknown ones. */
CHECKED static int next_part(Reader *reader, Cursor *cursor, int message, Field *field) {
  if (!next_field(reader, cursor, field)) return 0;
  if (LIKELY(field->wire == SIZED)) return 1;
  if (field->number <= 3)
    return fail(reader, field->contents.at, NUMBER_AS_FIELD, (int64_t)field->number, message);
  if (!unknown(reader, (int64_t)field->number, message)) return 0;
  if ((message == MAP || message == ENTRY) && !unusual_map(reader)) return 0;
  return 2;
}

/* --- Keys ---------------------------------------------------------------------------- */

static int is_utf8(const uint8_t *at, const uint8_t *end) {
  while (at < end) {
    uint8_t byte = *at++;
    if (byte < 0x80) continue;
    int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    if (byte < 0xc2 || byte > 0xf4 || end - at < more) return 0;
    /* The second byte has narrower bounds after these: no surrogates, nothing that fits
     * into fewer bytes, nothing above U+10FFFF. */
    uint8_t low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    uint8_t high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    if (*at < low || *at > high) return 0;
    for (at++; --more; at++)
      if ((*at & 0xc0) != 0x80) return 0;
  }
  return 1;
}

static int64_t hash_of(const uint8_t *name, int64_t size) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (int64_t at = 0; at < size; at++) hash = (hash ^ name[at]) * 0x100000001b3u;
  return (int64_t)(hash ^ hash >> 32);
}

CHECKED static int rehash(Keys *keys) {
  int64_t room = keys->slots ? 2 * (keys->mask + 1) : 64;
  int32_t *slots = malloc((size_t)room * sizeof *slots);
  if (!slots) return 0;
  memset(slots, 0xff, (size_t)room * sizeof *slots);
  for (int64_t at = 0; at < keys->keys.count; at++) {
    int64_t slot = ITEM(Key, &keys->keys, at).hash & (room - 1);
    while (slots[slot] >= 0) slot = (slot + 1) & (room - 1);
    slots[slot] = (int32_t)at;
  }
  free(keys->slots);
  keys->slots = slots;
  keys->mask = room - 1;
  return 1;
}

static int is_key(const Keys *keys, int32_t number, const uint8_t *name, int64_t size) {
  const Key *key = &ITEM(Key, &keys->keys, number);
  return key->size == size && !memcmp(key->name, name, (size_t)size);
}

/* Return the number of a key, or -1; `slot` becomes where it is, or where it would go. */
static int32_t find_key(const Keys *keys, const uint8_t *name, int64_t size, int64_t hash,
                        int64_t *slot) {
  *slot = hash & keys->mask;
  for (; keys->slots[*slot] >= 0; *slot = (*slot + 1) & keys->mask)
    if (is_key(keys, keys->slots[*slot], name, size)) return keys->slots[*slot];
  return -1;
}

/* Return the number of a key, a new one for a new key; -1 without memory. */
static int32_t key_of(Keys *keys, const uint8_t *name, int64_t size) {
  /* Most records have their keys in the order of the record before. */
  int32_t number = keys->next;
  if (number >= keys->keys.count || !is_key(keys, number, name, size)) {
    if (2 * keys->keys.count >= keys->mask && !rehash(keys)) return -1;
    int64_t hash = hash_of(name, size), slot;
    number = find_key(keys, name, size, hash, &slot);
    if (number < 0) {
      number = (int32_t)keys->keys.count;
      if (!PUSH(Key, &keys->keys, {name, size, hash, -1, -1})) return -1;
      keys->slots[slot] = number;
    }
  }
  keys->next = number + 1;
  return number;
}

/* --- Features ------------------------------------------------------------------------ */

/* Read a varint of up to eight bytes from eight bytes, without a branch for its length.
 *
 * Groups of seven bits are moved together: first two of them, then four, then eight.
 */
static inline uint64_t read_short_varint(uint64_t bytes, uint64_t ends, int *length) {
  uint64_t last = ends & -ends; /* the highest bit of the last byte */
  *length = __builtin_ctzll(ends) / 8 + 1;
  uint64_t value = bytes & (last - 1 + last) & 0x7f7f7f7f7f7f7f7fu;
  value = (value & 0x007f007f007f007fu) | (value & 0x7f007f007f007f00u) >> 1;
  value = (value & 0x00003fff00003fffu) | (value & 0x3fff00003fff0000u) >> 2;
  return (value & 0x000000000fffffffu) | (value & 0x0fffffff00000000u) >> 4;
}

/* Read a run of varints into `numbers`. */
CHECKED static int read_numbers(Reader *reader, Cursor run, int64_t *count) {
  Vector *numbers = &reader->numbers;
  int64_t most = run.end - run.at; /* each takes a byte or more */
  if (!most) return 1;
  if (numbers->room - numbers->count < most && !vector_grow(numbers, most, sizeof(int64_t)))
    return no_memory(reader);
  int64_t *next = &ITEM(int64_t, numbers, numbers->count), *first = next;
  while (run.at < run.end) {
    uint64_t value = *run.at, bytes;
    if (value < 0x80) {
      *next++ = (int64_t)value;
      run.at++;
      continue;
    }
    if (LIKELY(run.end - run.at >= 8)) {
      memcpy(&bytes, run.at, 8);
      uint64_t ends = ~bytes & 0x8080808080808080u;
      if (LIKELY(ends)) {
        int length;
        *next++ = (int64_t)read_short_varint(bytes, ends, &length);
        run.at += length;
        continue;
      }
    }
    const uint8_t *at = run.at;
    if (!read_varint(&run, LONG_VARINT, &value)) return fail(reader, at, NO_END, 0, 0);
    *next++ = (int64_t)value;
  }
  numbers->count += next - first;
  *count += next - first;
  return 1;
}

/* Read the values of a list into the extents of a feature.
 *
 * `usual` becomes 0 where the list is not as protobuf writes it: values alone, and packed
 * ones in one piece, or all of them single.
 */
CHECKED static int read_list(Reader *reader, Cursor list, Feature *feature, int *usual) {
  int wire = -1;
  Field field;
  while (list.at < list.end) {
    if (!next_field(reader, &list, &field)) return 0;
    Cursor values = field.contents;
    int64_t size = values.end - values.at;
    if (field.number != 1) {
      *usual = 0;
      if (!unknown(reader, (int64_t)field.number, LIST + feature->kind)) return 0;
      continue;
    }
    int packed = feature->kind != BYTES && field.wire == SIZED;
    if (wire >= 0 && (wire != field.wire || packed)) *usual = 0;
    wire = field.wire;
    if (feature->kind == BYTES) {
      if (wire != SIZED) return fail(reader, values.at, BYTES_AS_NUMBER, 0, 0);
      feature->values++;
    } else if (feature->kind == FLOAT) {
      if ((wire != SIZED && wire != FIXED32) || size % 4)
        return fail(reader, values.at, PART_OF_FLOAT, size, 0);
      feature->values += size / 4;
    } else if (wire == VARINT || wire == SIZED) {
      if (!read_numbers(reader, values, &feature->values)) return 0;
      continue;
    } else {
      return fail(reader, values.at, FIXED_INT64, 0, 0);
    }
    Extent extent = {values.at - reader->data, values.end - reader->data};
    if (!PUSH(Extent, &reader->extents, extent)) return no_memory(reader);
    feature->extents++;
  }
  return 1;
}

/* Read a feature, or go on with one that comes in several pieces. */
CHECKED static int read_feature(Reader *reader, Cursor contents, Feature *feature, int *usual) {
  int lists = 0;
  Field field;
  while (contents.at < contents.end) {
    int part = next_part(reader, &contents, FEATURE, &field);
    if (!part) return 0;
    if (lists++) *usual = 0;
    if (part == 2 || field.number > INT64) {
      *usual = 0;
      if (part == 1 && !unknown(reader, (int64_t)field.number, FEATURE)) return 0;
      continue;
    }
    if ((int32_t)field.number != feature->kind) {
      /* Of several lists the last one counts, and pieces of one list are joined. */
      feature->kind = (int32_t)field.number;
      int of_numbers = feature->kind == INT64;
      feature->first = of_numbers ? reader->numbers.count : reader->extents.count;
      feature->extents = feature->values = 0;
    }
    if (!read_list(reader, field.contents, feature, usual)) return 0;
  }
  return 1;
}

/* --- Maps ---------------------------------------------------------------------------- */

/* Read the steps of a feature list, or go on with one that comes in several pieces. */
CHECKED static int read_steps(Reader *reader, Cursor contents, FeatureList *list) {
  Field field;
  while (contents.at < contents.end) {
    int part = next_part(reader, &contents, FEATURE_LIST, &field);
    if (!part) return 0;
    if (part == 2) continue;
    if (field.number != 1) {
      if (!unknown(reader, (int64_t)field.number, FEATURE_LIST)) return 0;
      continue;
    }
    int usual = 1; /* of steps no one asks */
    Feature step = {list->steps, reader->extents.count, 0, 0, list->key, NOTHING};
    if (!read_feature(reader, field.contents, &step, &usual)) return 0;
    if (!PUSH(Feature, &reader->step_features, step)) return no_memory(reader);
    list->steps++;
  }
  return 1;
}

/* Put a feature in the place of one that the record has under the same key. */
CHECKED static int add_feature(Reader *reader, Feature feature, int usual) {
  Key *key = &ITEM(Key, &reader->features_by_key.keys, feature.key);
  if (key->row == reader->row) {
    ITEM(Feature, &reader->features, key->entry).key = -1;
    if (!note(reader, REPEATED_KEY, feature.key, 0, 0)) return 0;
  }
  if (!usual && !note(reader, UNUSUAL, feature.key, 0, 0)) return 0;
  key->row = reader->row;
  key->entry = reader->features.count;
  return PUSH(Feature, &reader->features, feature) || no_memory(reader);
}

CHECKED static int add_list(Reader *reader, FeatureList list) {
  Key *key = &ITEM(Key, &reader->lists_by_key.keys, list.key);
  if (key->row == reader->row) {
    FeatureList *before = &ITEM(FeatureList, &reader->lists, key->entry);
    for (int64_t at = 0; at < before->steps; at++)
      ITEM(Feature, &reader->step_features, before->first + at).key = -1;
    before->key = -1;
    if (!note(reader, REPEATED_KEY, list.key, 1, 0)) return 0;
  }
  key->row = reader->row;
  key->entry = reader->lists.count;
  return PUSH(FeatureList, &reader->lists, list) || no_memory(reader);
}

/* Read an entry of the map of features, or of that of feature lists. */
CHECKED static int read_entry(Reader *reader, Cursor entry, int of_lists) {
  Cursor rest = entry, name = {entry.at, entry.at};
  Field field;
  int names = 0, values = 0, others = 0;
  while (rest.at < rest.end) {
    int part = next_part(reader, &rest, ENTRY, &field);
    if (!part) return 0;
    if (part == 2) continue;
    if (field.number == 1) {
      names++;
      name = field.contents;
      if (!is_utf8(name.at, name.end)) return fail(reader, name.at, NOT_UTF8, 0, 0);
    } else if (field.number == 2) {
      values++;
    } else {
      others++;
      if (!unknown(reader, (int64_t)field.number, ENTRY)) return 0;
    }
  }
  if ((names != 1 || values != 1 || others) && !unusual_map(reader)) return 0;

  /* Now that the key is known, read the values. */
  Keys *keys = of_lists ? &reader->lists_by_key : &reader->features_by_key;
  int32_t key = key_of(keys, name.at, name.end - name.at);
  if (key < 0) return no_memory(reader);
  Feature feature = {reader->row, reader->extents.count, 0, 0, key, NOTHING};
  FeatureList list = {reader->row, 0, reader->step_features.count, key};
  int usual = 1;
  for (rest = entry; rest.at < rest.end;) {
    if (!next_field(reader, &rest, &field)) return 0;
    if (field.number != 2 || field.wire != SIZED) continue;
    if (of_lists) {
      if (!read_steps(reader, field.contents, &list)) return 0;
    } else if (!read_feature(reader, field.contents, &feature, &usual)) {
      return 0;
    }
  }
  return of_lists ? add_list(reader, list) : add_feature(reader, feature, usual);
}

CHECKED static int read_map(Reader *reader, Cursor map, int of_lists) {
  Field field;
  while (map.at < map.end) {
    int part = next_part(reader, &map, MAP, &field);
    if (!part) return 0;
    if (part == 2) continue;
    if (field.number == 1) {
      if (!read_entry(reader, field.contents, of_lists)) return 0;
    } else if (!unknown(reader, (int64_t)field.number, MAP) ||
               !unusual_map(reader)) {
      return 0;
    }
  }
  return 1;
}

CHECKED static int read_record(Reader *reader, Cursor record) {
  Field field;
  reader->features_by_key.next = reader->lists_by_key.next = 0;
  reader->unusual = 0;
  while (record.at < record.end) {
    int part = next_part(reader, &record, RECORD, &field);
    if (!part) return 0;
    if (part == 2) continue;
    if (field.number == 1) {
      if (!read_map(reader, field.contents, 0)) return 0;
    } else if (field.number == 2) {
      reader->sequences[reader->row] = 1;
      if (!read_map(reader, field.contents, 1)) return 0;
    } else if (!unknown(reader, (int64_t)field.number, RECORD)) {
      return 0;
    }
  }
  return 1;
}

/* --- Columns ------------------------------------------------------------------------- */

/* The features of one key that are of one kind; or the feature lists of one key. */
typedef struct {
  const uint8_t *name; /* of the key, in the records */
  int64_t size;        /* of the name */
  int64_t rows;        /* how many records, or steps, have it */
  int64_t values;      /* how many values they have in all */
  int64_t ints;        /* where its rows, lengths and values are in the array of int64 */
  int64_t floats;      /* where its values are in the array of float32 */
  int32_t kind;        /* LISTS: the feature lists themselves, whose lengths are steps */
  int32_t of_steps;    /* whether the features are those of steps */
  int32_t key;         /* its number */
  int32_t same;        /* how many columns of the same key there are from here on */
} Column;

enum { LISTS = KINDS };

typedef struct {
  Reader reader;
  Vector columns; /* Column */
  int32_t *of_key[2]; /* the column of each key and kind, of features and of lists; or -1 */
  int64_t ints, floats; /* how long the arrays have to be */
} Columns;

enum { SLOTS = KINDS + 1 };

CHECKED static int add_column(Columns *columns, const Keys *keys, int32_t key, int kind, int of_steps) {
  int32_t *slot = &columns->of_key[of_steps][key * SLOTS + kind];
  if (*slot >= 0) return 1;
  const Key *named = &ITEM(Key, &keys->keys, key);
  *slot = (int32_t)columns->columns.count;
  return PUSH(Column, &columns->columns, 
              {named->name, named->size, 0, 0, 0, 0, kind, of_steps, key, 1});
}

CHECKED static int count_feature(Columns *columns, const Keys *keys, const Feature *feature, int of_steps) {
  if (feature->key < 0) return 1;
  if (!add_column(columns, keys, feature->key, feature->kind, of_steps)) return 0;
  int32_t slot = columns->of_key[of_steps][feature->key * SLOTS + feature->kind];
  Column *column = &ITEM(Column, &columns->columns, slot);
  column->rows++;
  column->values += feature->values;
  return 1;
}

/* The order of columns: those of features first, then by key and kind. */
static int compare_columns(const void *left, const void *right) {
  const Column *one = left, *other = right;
  if (one->of_steps != other->of_steps) return one->of_steps - other->of_steps;
  if (one->key == other->key) return one->kind - other->kind;
  int64_t size = one->size < other->size ? one->size : other->size;
  int order = memcmp(one->name, other->name, (size_t)size);
  return order ? order : one->size < other->size ? -1 : 1;
}

CHECKED static int count_columns(Columns *columns) {
  Reader *reader = &columns->reader;
  Keys *keys[2] = {&reader->features_by_key, &reader->lists_by_key};
  for (int of_steps = 0; of_steps < 2; of_steps++) {
    size_t size = (size_t)keys[of_steps]->keys.count * SLOTS * sizeof(int32_t);
    if (!(columns->of_key[of_steps] = malloc(size ? size : 1))) return 0;
    memset(columns->of_key[of_steps], 0xff, size);
  }
  for (int64_t at = 0; at < reader->features.count; at++)
    if (!count_feature(columns, keys[0], &ITEM(Feature, &reader->features, at), 0)) return 0;
  for (int64_t at = 0; at < reader->lists.count; at++) {
    const FeatureList *list = &ITEM(FeatureList, &reader->lists, at);
    if (list->key < 0) continue;
    if (!add_column(columns, keys[1], list->key, LISTS, 1)) return 0;
    ITEM(Column, &columns->columns, columns->of_key[1][list->key * SLOTS + LISTS]).rows++;
  }
  for (int64_t at = 0; at < reader->step_features.count; at++)
    if (!count_feature(columns, keys[1], &ITEM(Feature, &reader->step_features, at), 1)) return 0;
  if (columns->columns.count)
    qsort(columns->columns.items, (size_t)columns->columns.count, sizeof(Column), compare_columns);
  for (int64_t at = 0; at < columns->columns.count; at++) {
    Column *column = &ITEM(Column, &columns->columns, at);
    columns->of_key[column->of_steps][column->key * SLOTS + column->kind] = (int32_t)at;
    column->ints = columns->ints;
    column->floats = columns->floats;
    columns->ints += 2 * column->rows;
    if (column->kind == INT64) columns->ints += column->values;
    if (column->kind == BYTES) columns->ints += 2 * column->values;
    if (column->kind == FLOAT) columns->floats += column->values;
  }
  for (int64_t at = columns->columns.count - 1; at > 0; at--) {
    Column *column = &ITEM(Column, &columns->columns, at), *before = column - 1;
    if (before->of_steps == column->of_steps && before->key == column->key)
      before->same = column->same + 1;
  }
  return 1;
}

/* Where the next row of a column goes, and its next value. */
typedef struct {
  int64_t row, value;
} Place;

static void fill_feature(const Reader *reader, const Feature *feature, int64_t row,
                         const Column *column, Place *place, int64_t *ints, float *floats) {
  int64_t *rows = ints + column->ints, *lengths = rows + column->rows;
  int64_t *values = lengths + column->rows;
  rows[place->row] = row;
  lengths[place->row++] = feature->values;
  if (column->kind == INT64 && feature->values) {
    memcpy(values + place->value, &ITEM(int64_t, &reader->numbers, feature->first),
           (size_t)feature->values * sizeof *values);
    place->value += feature->values;
    return;
  }
  for (int64_t at = 0; at < feature->extents; at++) {
    Extent extent = ITEM(Extent, &reader->extents, feature->first + at);
    if (column->kind == BYTES) {
      values[2 * place->value] = extent.begin;
      values[2 * place->value++ + 1] = extent.end;
    } else {
      int64_t size = extent.end - extent.begin;
      memcpy(floats + column->floats + place->value, reader->data + extent.begin, (size_t)size);
      place->value += size / 4;
    }
  }
}

static void clear(Columns *columns) {
  Reader *reader = &columns->reader;
  Vector *vectors[] = {
      &reader->features, &reader->step_features, &reader->lists,        &reader->extents,
      &reader->malformed, &reader->noted,        &reader->numbers,         &columns->columns,
      &reader->features_by_key.keys,             &reader->lists_by_key.keys,
  };
  for (size_t at = 0; at < sizeof vectors / sizeof *vectors; at++) free(vectors[at]->items);
  free(reader->features_by_key.slots);
  free(reader->lists_by_key.slots);
  free(columns->of_key[0]);
  free(columns->of_key[1]);
}

/* Read records, and return what they hold; NULL without memory.
 *
 * data: the memory of the records, which has to stay until `columns_free`.
 * starts, stops: where each of `count` records begins and ends.
 * sequences: becomes 1 for a record that has a field of feature lists, else 0.
 */
EXPORT Columns *columns_read(const uint8_t *data, const int64_t *starts, const int64_t *stops,
                             int64_t count, uint8_t *sequences) {
  Columns *columns = calloc(1, sizeof *columns);
  if (!columns) return NULL;
  Reader *reader = &columns->reader;
  reader->data = data;
  reader->sequences = sequences;
  memset(sequences, 0, (size_t)count);
  for (reader->row = 0; reader->row < count; reader->row++) {
    Vector *kept[] = {&reader->features, &reader->step_features, &reader->lists,
                      &reader->extents,  &reader->numbers,       &reader->noted};
    enum { KEPT = sizeof kept / sizeof *kept };
    int64_t counts[KEPT];
    for (int at = 0; at < KEPT; at++) counts[at] = kept[at]->count;
    Cursor record = {data + starts[reader->row], data + stops[reader->row]};
    if (LIKELY(read_record(reader, record))) continue;
    reader->fault.at -= starts[reader->row];
    for (int at = 0; at < KEPT; at++) kept[at]->count = counts[at];
    sequences[reader->row] = 0;
    if (reader->fault.reason == NO_MEMORY ||
        !PUSH(Malformed, &reader->malformed, reader->fault)) {
      clear(columns);
      free(columns);
      return NULL;
    }
  }
  if (count_columns(columns)) return columns;
  clear(columns);
  free(columns);
  return NULL;
}

/* Return the items of a vector: 0 columns, in the order of `compare_columns`, 1 malformed,
 * 2 noted.
 */
EXPORT const void *columns_items(const Columns *columns, int what) {
  const Vector *vectors[] = {&columns->columns, &columns->reader.malformed, &columns->reader.noted};
  return vectors[what]->items;
}

/* Return the name of a key by its number, of features or of feature lists. */
EXPORT const uint8_t *columns_key(const Columns *columns, int of_lists, int32_t key, int64_t *size) {
  const Keys *keys = of_lists ? &columns->reader.lists_by_key : &columns->reader.features_by_key;
  *size = ITEM(Key, &keys->keys, key).size;
  return ITEM(Key, &keys->keys, key).name;
}

/* Tell how many int64s and float32s the columns take, and how many items each vector has. */
EXPORT void columns_sizes(const Columns *columns, int64_t sizes[5]) {
  sizes[0] = columns->ints;
  sizes[1] = columns->floats;
  sizes[2] = columns->columns.count;
  sizes[3] = columns->reader.malformed.count;
  sizes[4] = columns->reader.noted.count;
}

/* Fill arrays that are as long as `columns_sizes` says; 0 without memory.
 *
 * Each column has in `ints` its rows, ascending, the length of each, and then its values
 * if it is of int64, or the beginning and end in `data` of each if it is of bytes.
 */
EXPORT int columns_fill(const Columns *columns, int64_t *ints, float *floats) {
  const Reader *reader = &columns->reader;
  int64_t count = columns->columns.count, lists = reader->lists_by_key.keys.count;
  Place *places = calloc((size_t)count + 1, sizeof *places);
  int64_t *steps = calloc((size_t)lists + 1, sizeof *steps);
  if (!places || !steps) {
    free(places);
    free(steps);
    return 0;
  }
  for (int64_t at = 0; at < reader->features.count; at++) {
    const Feature *feature = &ITEM(Feature, &reader->features, at);
    if (feature->key < 0) continue;
    int32_t slot = columns->of_key[0][feature->key * SLOTS + feature->kind];
    const Column *column = &ITEM(Column, &columns->columns, slot);
    fill_feature(reader, feature, feature->row, column, &places[slot], ints, floats);
  }
  for (int64_t at = 0; at < reader->lists.count; at++) {
    const FeatureList *list = &ITEM(FeatureList, &reader->lists, at);
    if (list->key < 0) continue;
    const int32_t *of_key = columns->of_key[1] + list->key * SLOTS;
    const Column *column = &ITEM(Column, &columns->columns, of_key[LISTS]);
    Place *place = &places[of_key[LISTS]];
    ints[column->ints + place->row] = list->row;
    ints[column->ints + column->rows + place->row++] = list->steps;
    for (int64_t step = 0; step < list->steps; step++) {
      const Feature *feature = &ITEM(Feature, &reader->step_features, list->first + step);
      int32_t slot = of_key[feature->kind];
      column = &ITEM(Column, &columns->columns, slot);
      fill_feature(reader, feature, steps[list->key]++, column, &places[slot], ints, floats);
    }
  }
  free(places);
  free(steps);
  return 1;
}

/* What all records are expected to hold under a key. */
typedef struct {
  const uint8_t *name;
  int64_t size; /* of the name */
  int32_t kind;
  int32_t optional; /* whether records may be without it */
  int32_t finite;   /* whether its floats have to be finite */
  int32_t text;     /* whether its bytes have to be UTF-8 */
  int64_t count;    /* how many values each record has; -1 for any number */
  int64_t most;     /* how many values a record has at most; -1 for no limit */
  int64_t each;     /* how many bytes each value has; -1 for any number */
  int64_t low, high; /* of its int64s */
  float least, greatest; /* of its floats, of which NaN is */
} Expected;

/* Return the number of the one column of a key, if it has one, of one kind; or -1. */
static int64_t column_of(const Columns *columns, const Expected *expected) {
  const Keys *keys = &columns->reader.features_by_key;
  if (!keys->slots) return -1;
  int64_t slot, hash = hash_of(expected->name, expected->size);
  int32_t key = find_key(keys, expected->name, expected->size, hash, &slot);
  if (key < 0) return -1;
  const int32_t *of_key = columns->of_key[0] + key * SLOTS;
  for (int kind = 0; kind < KINDS; kind++)
    if (kind != expected->kind && of_key[kind] >= 0) return -1;
  return of_key[expected->kind];
}

/* Return whether a column is as expected. */
static int is_expected(const Columns *columns, const Column *column, const Expected *expected,
                       const int64_t *ints, const float *floats) {
  const int64_t *lengths = ints + column->ints + column->rows, *values = lengths + column->rows;
  int64_t most = expected->most < 0 ? INT64_MAX : expected->most;
  for (int64_t row = 0; row < column->rows; row++) {
    if (expected->count >= 0 && lengths[row] != expected->count) return 0;
    if (lengths[row] > most) return 0;
  }
  int64_t wrong = 0;
  if (expected->kind == INT64) {
    for (int64_t at = 0; at < column->values; at++)
      wrong |= (values[at] < expected->low) | (values[at] > expected->high);
  } else if (expected->kind == FLOAT) {
    const uint32_t exponent = 0x7f800000u;
    for (int64_t at = 0; expected->finite && at < column->values; at++) {
      uint32_t bits;
      memcpy(&bits, floats + column->floats + at, 4);
      wrong |= (bits & exponent) == exponent;
    }
    int limited = expected->least > -INFINITY || expected->greatest < INFINITY;
    for (int64_t at = 0; limited && at < column->values; at++) {
      float value = floats[column->floats + at];
      wrong |= (value < expected->least) | (value > expected->greatest);
    }
  } else if (expected->kind == BYTES) {
    const uint8_t *data = columns->reader.data;
    for (int64_t at = 0; at < column->values && !wrong; at++) {
      int64_t begin = values[2 * at], end = values[2 * at + 1];
      wrong |= expected->each >= 0 && end - begin != expected->each;
      wrong |= expected->text && !is_utf8(data + begin, data + end);
    }
  }
  return !wrong;
}

/* Find the columns of keys in which all of `rows` records are as expected.
 *
 * ints, floats: as `columns_fill` has filled them.
 * found: becomes the number of each key's column; -1 where something is not as expected.
 */
EXPORT void columns_expect(const Columns *columns, const int64_t *ints, const float *floats,
                           int64_t rows, const Expected *expected, int64_t count,
                           int32_t *found) {
  for (int64_t at = 0; at < count; at++) {
    found[at] = -1;
    int64_t number = column_of(columns, &expected[at]);
    if (number < 0) continue;
    const Column *column = &ITEM(Column, &columns->columns, number);
    if (column->rows < rows && !expected[at].optional) continue;
    if (is_expected(columns, column, &expected[at], ints, floats)) found[at] = (int32_t)number;
  }
}

EXPORT void columns_free(Columns *columns) {
  clear(columns);
  free(columns);
}
