/* Pictures at another size, with the pixels of TensorFlow's ResizeBilinear and
 * ResizeNearestNeighbor with half-pixel centers, and of its ScaleAndTranslate.
 *
 * https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/kernels/image/resize_bilinear_op.cc
 *
 * Every product and sum is rounded to float32, as there: this has to be compiled without
 * contraction to fused operations.
 */
#include <math.h>

#include "core.h"

/* The two old rows, or columns, next to a new one, and the share of the second. */
typedef struct {
  int64_t first, second;
  float share;
} Sample;

static Sample sample_at(int64_t at, int64_t size, int64_t wanted) {
  float scale = (float)size / (float)wanted;
  float center = ((float)at + 0.5f) * scale - 0.5f;
  float below = floorf(center);
  int64_t first = (int64_t)below, second = (int64_t)ceilf(center);
  return (Sample){first < 0 ? 0 : first, second < size ? second : size - 1, center - below};
}

static int64_t nearest_to(int64_t at, int64_t size, int64_t wanted) {
  float scale = (float)size / (float)wanted;
  int64_t found = (int64_t)floorf(((float)at + 0.5f) * scale);
  return found < size ? found : size - 1;
}

static float mixed(float first, float second, float share) {
  return first + (second - first) * share;
}

#define PIXEL(type, row, column, channel) \
  (float)((const type *)pixels)[((row) * width + (column)) * channels + (channel)]

/* A function for pixels of a type. */
#define RESIZE(name, type)                                                                    \
  static void name(const void *pixels, int64_t width, int64_t channels, Sample down,          \
                   const Sample *across, int64_t wanted, float *out) {                        \
    for (int64_t at = 0; at < wanted; at++) {                                                 \
      Sample side = across[at];                                                               \
      for (int64_t channel = 0; channel < channels; channel++) {                              \
        float top = mixed(PIXEL(type, down.first, side.first, channel),                       \
                          PIXEL(type, down.first, side.second, channel), side.share);         \
        float bottom = mixed(PIXEL(type, down.second, side.first, channel),                   \
                             PIXEL(type, down.second, side.second, channel), side.share);     \
        *out++ = mixed(top, bottom, down.share);                                              \
      }                                                                                       \
    }                                                                                         \
  }

RESIZE(mix_bytes, uint8_t)
RESIZE(mix_floats, float)

/* Mix the four old pixels around each new one; 0 without memory.
 *
 * pixels: [height, width, channels], of float32 if `of_floats`, else of uint8.
 * out: float32 [new_height, new_width, channels]. All sizes are at least 1.
 */
EXPORT int image_mix(const void *pixels, int of_floats, int64_t height, int64_t width,
                     int64_t channels, int64_t new_height, int64_t new_width, float *out) {
  Sample *across = malloc((size_t)new_width * sizeof *across);
  if (!across) return 0;
  for (int64_t at = 0; at < new_width; at++) across[at] = sample_at(at, width, new_width);
  for (int64_t at = 0; at < new_height; at++) {
    Sample down = sample_at(at, height, new_height);
    (of_floats ? mix_floats : mix_bytes)(pixels, width, channels, down, across, new_width, out);
    out += new_width * channels;
  }
  free(across);
  return 1;
}

/* The shares of old rows, or columns, in a new one: a triangle around its center. */
typedef struct {
  int64_t first, count;
  float *shares;
} Span;

/* Make the spans of all new rows or columns; NULL without memory. One `free` frees them.
 *
 * https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/kernels/image/scale_and_translate_op.cc
 */
static Span *spans_of(int64_t size, int64_t wanted) {
  float scale = (float)wanted / (float)size;
  float inverse = (float)(1.0 / (double)scale);
  float radius = inverse > 1.0f ? inverse : 1.0f, narrow = 1.0f / radius;
  int64_t most = 2 * (int64_t)ceilf(radius) + 1;
  Span *spans = malloc((size_t)wanted * (sizeof *spans + (size_t)most * sizeof(float)));
  if (!spans) return NULL;
  float *shares = (float *)(spans + wanted);
  for (int64_t at = 0; at < wanted; at++, shares += most) {
    float center = ((float)at + 0.5f) * inverse, sum = 0;
    int64_t first = (int64_t)ceilf(center - radius - 0.5f);
    int64_t last = (int64_t)floorf(center + radius - 0.5f);
    if (first < 0) first = 0;
    if (last > size - 1) last = size - 1;
    spans[at] = (Span){first, last - first + 1, shares};
    for (int64_t old = first; old <= last; old++) {
      float distance = fabsf((float)old + 0.5f - center) * narrow;
      float share = distance < 1.0f ? 1.0f - distance : 0.0f;
      shares[old - first] = share;
      sum += share;
    }
    float factor = 1.0f / sum;
    for (int64_t each = 0; each < spans[at].count; each++) shares[each] *= factor;
  }
  return spans;
}

/* Filter a picture before it shrinks, rows first: as `image_mix`. */
EXPORT int image_filter(const void *pixels, int of_floats, int64_t height, int64_t width,
                        int64_t channels, int64_t new_height, int64_t new_width, float *out) {
  Span *down = spans_of(height, new_height), *across = spans_of(width, new_width);
  int64_t values = width * channels;
  float *row = malloc((size_t)values * sizeof *row);
  int made = down && across && row;
  for (int64_t at = 0; made && at < new_height; at++) {
    memset(row, 0, (size_t)values * sizeof *row);
    for (int64_t each = 0; each < down[at].count; each++) {
      float share = down[at].shares[each];
      int64_t first = (down[at].first + each) * values;
      const uint8_t *bytes = (const uint8_t *)pixels + first;
      const float *floats = (const float *)pixels + first;
      if (of_floats)
        for (int64_t value = 0; value < values; value++) row[value] += share * floats[value];
      else
        for (int64_t value = 0; value < values; value++) row[value] += share * (float)bytes[value];
    }
    for (int64_t column = 0; column < new_width; column++, out += channels) {
      const float *old = row + across[column].first * channels;
      memset(out, 0, (size_t)channels * sizeof *out);
      for (int64_t each = 0; each < across[column].count; each++)
        for (int64_t channel = 0; channel < channels; channel++)
          out[channel] += across[column].shares[each] * *old++;
    }
  }
  free(down);
  free(across);
  free(row);
  return made;
}

/* Round numbers from 0 to 255 to the nearest, or to the even one of two. */
EXPORT void floats_round(const float *numbers, int64_t count, uint8_t *out) {
  for (int64_t at = 0; at < count; at++) out[at] = (uint8_t)lrintf(numbers[at]);
}

/* Copy the old pixel that is nearest to each new one.
 *
 * pixels: [height, width], each of `size` bytes.
 * out: [new_height, new_width], of as many. All sizes are at least 1.
 */
EXPORT void image_pick(const uint8_t *pixels, int64_t size, int64_t height, int64_t width,
                       int64_t new_height, int64_t new_width, uint8_t *out) {
  for (int64_t row = 0; row < new_height; row++) {
    const uint8_t *old = pixels + nearest_to(row, height, new_height) * width * size;
    for (int64_t column = 0; column < new_width; column++, out += size)
      memcpy(out, old + nearest_to(column, width, new_width) * size, (size_t)size);
  }
}
