/* Ranges of files: opened, compared with what they were, and read.
 *
 * https://pubs.opengroup.org/onlinepubs/9699919799/functions/pread.html
 */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#define MODIFIED st_mtimespec
#else
#define MODIFIED st_mtim
#endif

/* What a system says about a file: another one was put in its place, or it was written to,
 * if one of them is not what it was. */
typedef struct {
  uint64_t size;
  uint64_t inode;
  int64_t modified; /* nanoseconds since 1970 */
} State;

/* Ranges of files, one file after the other. */
typedef struct {
  const int64_t *starts; /* in the file */
  const int64_t *sizes;
  const int64_t *places; /* in `out` */
  uint8_t *out;
} Ranges;

/* What is no error number: the file ends too early, or is not what it was. */
enum { WHOLE = 0, OTHER = -1 };

/* The most bytes of one call: macOS refuses more than an int holds. */
enum { MOST = 1 << 30 };

static int is_same(int handle, const State *state) {
  struct stat found;
  return !fstat(handle, &found) && (uint64_t)found.st_size == state->size &&
         (uint64_t)found.st_ino == state->inode &&
         (int64_t)found.MODIFIED.tv_sec * 1000000000 + found.MODIFIED.tv_nsec ==
             state->modified;
}

/* Read some of the ranges from an open file; `at` becomes the first that is not whole. */
static int read_some(int handle, const Ranges *ranges, int64_t *at, int64_t stop) {
  for (; *at < stop; ++*at) {
    for (int64_t done = 0, size = ranges->sizes[*at]; done < size;) {
      int64_t rest = size - done;
      ssize_t got = pread(handle, ranges->out + ranges->places[*at] + done,
                          (size_t)(rest < MOST ? rest : MOST),
                          (off_t)(ranges->starts[*at] + done));
      if (got > 0) {
        done += got;
      } else if (got == 0) {
        return OTHER;
      } else if (errno != EINTR) {
        return errno;
      }
    }
  }
  return WHOLE;
}

/* Read ranges of an open file, each to its place in `out`.
 *
 * Return how many were read whole; if that are not all, `error` is the number of the error
 * that came, or 0 where the file ends.
 */
EXPORT int64_t ranges_read(int32_t handle, const int64_t *starts, const int64_t *sizes,
                           const int64_t *places, int64_t count, uint8_t *out, int32_t *error) {
  Ranges ranges = {starts, sizes, places, out};
  int64_t at = 0;
  int found = read_some(handle, &ranges, &at, count);
  *error = found == OTHER ? 0 : found;
  return at;
}

/* Read ranges of files, each to its place in `out`.
 *
 * `files` are the numbers of the files, and `bounds` where the ranges of each begin and end.
 * Path and state of a file are at its number. `handles` has those of files that are open, and
 * -1 for others; of these up to `keep` stay open, and their handles are returned there. A
 * file whose `status` is not 0 could not be opened or read, or is not what it was after it was
 * read.
 */
EXPORT void files_read(const int64_t *files, const int64_t *bounds, int64_t count,
                       const char *paths, const int64_t *path_starts, const State *states,
                       int32_t *handles, int64_t keep, const int64_t *starts,
                       const int64_t *sizes, const int64_t *places, uint8_t *out,
                       int32_t *status) {
  Ranges ranges = {starts, sizes, places, out};
  for (int64_t row = 0; row < count; row++) {
    const State *state = &states[files[row]];
    int64_t at = bounds[row];
    int handle = handles[row], is_new = handle < 0;
    if (is_new) {
      /* A pipe that has come in the place of the file is not waited for. */
      handle = open(paths + path_starts[files[row]], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
      if (handle < 0) {
        status[row] = errno;
        continue;
      }
    }
    status[row] = read_some(handle, &ranges, &at, bounds[row + 1]);
    /* A change of its bytes is one of its time, too, which is made first. */
    if (status[row] == WHOLE && !is_same(handle, state)) status[row] = OTHER;
    if (!is_new) continue;
    if (status[row] == WHOLE && keep > 0) {
      handles[row] = handle;
      keep--;
    } else {
      close(handle);
    }
  }
}
