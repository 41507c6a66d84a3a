/* What the parts of the core share: cursors over bytes, and vectors that grow.
 *
 * Nothing in a file can make the core read or write out of bounds: every length is
 * compared with what is left before it is used, and every function that can fail says so
 * by a result that has to be used.
 */
#ifndef SCHEMAGEN_CORE_H
#define SCHEMAGEN_CORE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#define CHECKED __attribute__((warn_unused_result))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define EXPORT
#define CHECKED
#define LIKELY(condition) (condition)
#endif

/* Bytes that have not been read yet. */
typedef struct {
  const uint8_t *at;
  const uint8_t *end;
} Cursor;

/* A vector of items of one type. A failed allocation leaves it as it was. */
typedef struct {
  void *items;
  int64_t count;
  int64_t room;
} Vector;

/* Make room for more items of a size. */
CHECKED static inline int vector_grow(Vector *vector, int64_t more, size_t size) {
  int64_t room = vector->room ? 2 * vector->room : 64;
  if (room < vector->count + more) room = vector->count + more;
  void *items = realloc(vector->items, (size_t)room * size);
  if (!items) return 0;
  vector->items = items;
  vector->room = room;
  return 1;
}

/* Append an item to a vector; 0 without memory. */
#define PUSH(type, vector, ...)                                                   \
  (((vector)->count < (vector)->room || vector_grow((vector), 1, sizeof(type)))      \
       ? (((type *)(vector)->items)[(vector)->count++] = (type)__VA_ARGS__, 1)    \
       : 0)

#define ITEM(type, vector, index) (((type *)(vector)->items)[index])

/* Read a varint: groups of seven bits, the lowest first, of which all but the last have
 * the highest bit set. Bits above 64 are dropped, as protobuf drops them.
 *
 * https://protobuf.dev/programming-guides/encoding/#varints
 */
CHECKED static inline int read_varint(Cursor *cursor, int longest, uint64_t *value) {
  const uint8_t *at = cursor->at;
  uint64_t found = 0;
  for (int group = 0; group < longest; group++) {
    if (at == cursor->end) return 0;
    uint8_t byte = *at++;
    found |= (uint64_t)(byte & 0x7f) << (7 * group);
    if (byte < 0x80) {
      *value = found;
      cursor->at = at;
      return 1;
    }
  }
  return 0;
}

#endif
