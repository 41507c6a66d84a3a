/* Packing: lists in rows of one length, each in the fullest row that has room.
 *
 * Rows that have room are found by how much they have: a tree of three levels of 64-bit words
 * tells which buckets of rooms hold a row.
 */
#include "core.h"

enum { WORD_BITS = 6, LEVELS = 3, BUCKET_BITS = WORD_BITS * LEVELS, DIGIT_BITS = 8 };

typedef struct {
  int64_t size;   /* how many items a row has */
  int shift;      /* a bucket has the rooms that are equal but for so many bits */
  uint64_t *bits; /* which buckets hold a row, then which words of the level below are not 0 */
  int64_t starts[LEVELS], words[LEVELS]; /* of each level */
  int32_t *firsts;                       /* the first row of each bucket, by room */
  int32_t *next;                         /* the row behind each in its bucket, or -1 */
  int64_t *rooms;                        /* of each row */
  int64_t *used, *ranks, *seen;          /* of each row: items, its number, pieces */
  int32_t *rows;                         /* of each list: the row of its last piece */
  int32_t *order, *spare;                /* lists with a last piece, the longest first */
} Packer;

/* A piece of a list, as Python reads it. */
typedef struct {
  int64_t list;
  int64_t start;  /* in its list */
  int64_t length; /* in items */
  int64_t row;
  int64_t place;   /* in its row */
  int64_t segment; /* which piece of its row it is, from 1 */
} Piece;

static int lowest(uint64_t bits) {
#if defined(__GNUC__)
  return __builtin_ctzll(bits);
#else
  int at = 0;
  while (!(bits >> at & 1)) at++;
  return at;
#endif
}

/* Return the first bucket from one on that holds a row, or -1. */
static int64_t bucket_from(const Packer *packer, int64_t at) {
  for (int level = 0; level < LEVELS; level++) {
    int64_t word = at >> WORD_BITS;
    if (word >= packer->words[level]) return -1;
    uint64_t found = packer->bits[packer->starts[level] + word] & ~(uint64_t)0 << (at & 63);
    if (found) {
      at = word << WORD_BITS | lowest(found);
      while (level--) at = at << WORD_BITS | lowest(packer->bits[packer->starts[level] + at]);
      return at;
    }
    at = word + 1;
  }
  return -1;
}

static void mark(Packer *packer, int64_t at) {
  for (int level = 0; level < LEVELS; level++, at >>= WORD_BITS)
    packer->bits[packer->starts[level] + (at >> WORD_BITS)] |= (uint64_t)1 << (at & 63);
}

static void unmark(Packer *packer, int64_t at) {
  for (int level = 0; level < LEVELS; level++, at >>= WORD_BITS) {
    uint64_t *word = &packer->bits[packer->starts[level] + (at >> WORD_BITS)];
    *word &= ~((uint64_t)1 << (at & 63));
    if (*word) return;
  }
}

/* Take the row with the least room that is enough, the last one put of several; or -1. */
static int32_t take(Packer *packer, int64_t needed) {
  int64_t bucket = bucket_from(packer, needed >> packer->shift);
  while (bucket >= 0) {
    int32_t *link = &packer->firsts[bucket];
    while (*link >= 0 && packer->rooms[*link] < needed) link = &packer->next[*link];
    int32_t row = *link;
    if (row >= 0) {
      *link = packer->next[row];
      if (packer->firsts[bucket] < 0) unmark(packer, bucket);
      return row;
    }
    bucket = bucket_from(packer, bucket + 1);
  }
  return -1;
}

static void put(Packer *packer, int32_t row) {
  int64_t room = packer->rooms[row], bucket = room >> packer->shift;
  uint64_t word = packer->bits[packer->starts[0] + (bucket >> WORD_BITS)];
  if (!(word >> (bucket & 63) & 1)) {
    packer->firsts[bucket] = -1;
    mark(packer, bucket);
  }
  int32_t *link = &packer->firsts[bucket];
  while (*link >= 0 && packer->rooms[*link] < room) link = &packer->next[*link];
  packer->next[row] = *link;
  *link = row;
}

/* Return how many items the last piece of a list has, if it does not fill a row; or 0. */
static int64_t rest_of(const Packer *packer, int64_t length, int drop) {
  if (length < packer->size) return length > 0 ? length : 0;
  return drop ? 0 : length % packer->size;
}

/* Return how many rows a list fills by itself. */
static int64_t full_of(const Packer *packer, int64_t length, int drop) {
  if (length < packer->size) return 0;
  if (drop) return length == packer->size;
  return length / packer->size;
}

/* Sort lists by their last pieces, the longest first, equal ones in their order. */
static void sort(Packer *packer, const int32_t *lengths, int64_t count, int drop) {
  int64_t most = 0;
  for (int64_t at = 0; at < count; at++) {
    int64_t length = rest_of(packer, lengths[packer->order[at]], drop);
    if (length > most) most = length;
  }
  for (int shift = 0; most >> shift; shift += DIGIT_BITS) {
    int64_t places[(1 << DIGIT_BITS) + 1] = {0};
    for (int64_t at = 0; at < count; at++)
      places[1 + ((most - rest_of(packer, lengths[packer->order[at]], drop)) >> shift & 255)]++;
    for (int digit = 0; digit < 1 << DIGIT_BITS; digit++) places[digit + 1] += places[digit];
    for (int64_t at = 0; at < count; at++) {
      int32_t list = packer->order[at];
      packer->spare[places[(most - rest_of(packer, lengths[list], drop)) >> shift & 255]++] = list;
    }
    int32_t *sorted = packer->spare;
    packer->spare = packer->order;
    packer->order = sorted;
  }
}

/* Find the rows of all last pieces of a window. Returns how many rows they need. */
static int64_t fit(Packer *packer, const int32_t *lengths, int64_t count, int drop) {
  int64_t pieces = 0;
  int32_t opened = 0;
  for (int64_t list = 0; list < count; list++)
    if (rest_of(packer, lengths[list], drop)) packer->order[pieces++] = (int32_t)list;
  sort(packer, lengths, pieces, drop);
  memset(packer->bits, 0, (size_t)(packer->starts[LEVELS - 1] + 1) * sizeof(uint64_t));
  for (int64_t at = 0; at < pieces; at++) {
    int32_t list = packer->order[at];
    int64_t length = rest_of(packer, lengths[list], drop);
    int32_t row = take(packer, length);
    if (row < 0) {
      row = opened++;
      packer->rooms[row] = packer->size;
    }
    packer->rooms[row] -= length;
    packer->rows[list] = row;
    if (packer->rooms[row]) put(packer, row);
  }
  return opened;
}

/* Memory for several arrays, one behind the other. */
static void *part(char **at, int64_t count, size_t size) {
  void *found = *at;
  *at += ((size_t)count * size + 7) / 8 * 8;
  return found;
}

/* Pack lists into rows, those of each window by themselves, the longest piece first.
 *
 * Rows are in the order of their first lists, and pieces of a row in the order of the lists.
 *
 * lengths: how many items each of `count` lists has.
 * window: how many lists are packed together.
 * size: how many items a row has; longer lists are cut into pieces.
 * drop: leave out longer lists.
 * counts: how many rows each window has.
 * pieces: of all lists, in their order, with rows counted through all windows; NULL if only
 *   counts are wanted.
 *
 * Returns 0 without memory.
 */
EXPORT CHECKED int lists_pack(const int32_t *lengths, int64_t count, int64_t window, int64_t size,
                              int drop, int64_t *counts, Piece *pieces) {
  Packer packer = {.size = size};
  while (size >> packer.shift >> BUCKET_BITS) packer.shift++;
  int64_t buckets = (size >> packer.shift) + 1, words = buckets, all = 0;
  for (int level = 0; level < LEVELS; level++) {
    words = (words + 63) >> WORD_BITS;
    packer.starts[level] = all;
    packer.words[level] = words;
    all += words;
  }
  int64_t most = window < count ? window : count;
  size_t bytes = (size_t)all * 8 + ((size_t)buckets + 2) * 4 + (size_t)(most + 2) * (4 * 8 + 4 * 4);
  char *memory = malloc(bytes), *at = memory;
  if (!memory) return 0;
  packer.bits = part(&at, all, sizeof(uint64_t));
  packer.rooms = part(&at, most, sizeof(int64_t));
  packer.used = part(&at, most, sizeof(int64_t));
  packer.ranks = part(&at, most, sizeof(int64_t));
  packer.seen = part(&at, most, sizeof(int64_t));
  packer.firsts = part(&at, buckets, sizeof(int32_t));
  packer.next = part(&at, most, sizeof(int32_t));
  packer.rows = part(&at, most, sizeof(int32_t));
  packer.order = part(&at, most, sizeof(int32_t));
  packer.spare = part(&at, most, sizeof(int32_t));
  int64_t row = 0;
  for (int64_t start = 0; start < count; start += window, lengths += most, counts++) {
    if (most > count - start) most = count - start;
    int64_t opened = fit(&packer, lengths, most, drop);
    *counts = opened;
    for (int64_t list = 0; list < most; list++) *counts += full_of(&packer, lengths[list], drop);
    if (!pieces) continue;
    for (int64_t each = 0; each < opened; each++) {
      packer.ranks[each] = -1;
      packer.used[each] = packer.seen[each] = 0;
    }
    for (int64_t list = 0; list < most; list++) {
      int64_t begin = 0;
      for (int64_t full = full_of(&packer, lengths[list], drop); full; full--, begin += size)
        *pieces++ = (Piece){start + list, begin, size, row++, 0, 1};
      int64_t rest = rest_of(&packer, lengths[list], drop);
      if (!rest) continue;
      int32_t own = packer.rows[list];
      if (packer.ranks[own] < 0) packer.ranks[own] = row++;
      int64_t place = packer.used[own], segment = ++packer.seen[own];
      *pieces++ = (Piece){start + list, begin, rest, packer.ranks[own], place, segment};
      packer.used[own] += rest;
    }
  }
  free(memory);
  return 1;
}
