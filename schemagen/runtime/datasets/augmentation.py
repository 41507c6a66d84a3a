"""Pictures and sound varied in training: mirrored, moved, brighter; a window of each.

What happens to a record is drawn from the seed of its batch and its place in there,
and not from the field: a picture and its mask are mirrored together.
"""

from __future__ import annotations

from ..shared.requirements import tf

# One row of random numbers each; a new one comes last, and leaves the others as they are.
_DRAWS = 7
_LEFT_RIGHT, _UP_DOWN, _DOWN, _RIGHT, _BRIGHTNESS, _CONTRAST, _WINDOW = range(_DRAWS)


def images(
    pixels: tf.Tensor,
    seed: tf.Tensor,
    *,
    flip_left_right: bool = False,
    flip_up_down: bool = False,
    crop: int = 0,
    brightness: float = 0.0,
    contrast: float = 0.0,
    white: int | None = None,
    alpha: bool = False,
) -> tf.Tensor:
    """Vary each picture of a batch.

    A picture that is black throughout stays so: it may be a missing one.

    Args:
        pixels: [B, H, W, C], of any numeric dtype; for brightness and contrast one whose
            values float32 holds.
        seed: int64 [2], another one for each batch.
        flip_left_right: mirror half of the pictures, by chance.
        flip_up_down: turn half of them upside down, by chance.
        crop: move the picture by up to so many pixels in each direction; what comes in
            at an edge is what the picture shows inside of it, mirrored.
        brightness: add up to this share of the range of values, or subtract it.
        contrast: multiply the distance from the mean of the picture's channel by
            1 - contrast to 1 + contrast.
        white: the largest value of floats that begin at 0. None: the range of an integer
            dtype; of floats it is 0 to 1, and values may leave it.
        alpha: the last channel is no color, and keeps its values.

    Returns:
        The same shape and dtype.
    """
    moved = _moved(pixels, seed, 1, flip_left_right, flip_up_down, crop)
    return _recolored(moved, seed, brightness, contrast, white, alpha)


def image_lists(
    pixels: tf.Tensor,
    seed: tf.Tensor,
    *,
    flip_left_right: bool = False,
    flip_up_down: bool = False,
    crop: int = 0,
    brightness: float = 0.0,
    contrast: float = 0.0,
    white: int | None = None,
    alpha: bool = False,
) -> tf.Tensor:
    """Vary lists of pictures, all pictures of a record alike.

    Args:
        pixels: [B, T, H, W, C]; black pictures fill up a list.
        seed: as for `images`, and so are the others.
        flip_left_right: mirror.
        flip_up_down: turn upside down.
        crop: move by up to so many pixels.
        brightness: the share of the range.
        contrast: what to vary the factor 1 by.
        white: the largest value of floats.
        alpha: the last channel keeps its values.

    Returns:
        The same shape and dtype.
    """
    moved = _moved(pixels, seed, 2, flip_left_right, flip_up_down, crop)
    return _recolored(moved, seed, brightness, contrast, white, alpha)


def masks(
    ids: tf.Tensor,
    seed: tf.Tensor,
    *,
    flip_left_right: bool = False,
    flip_up_down: bool = False,
    crop: int = 0,
) -> tf.Tensor:
    """Mirror and move masks, each pixel as that of the picture.

    Args:
        ids: [B, H, W], of any dtype.
        seed: as for `images`, and so are the others.
        flip_left_right: mirror.
        flip_up_down: turn upside down.
        crop: move by up to so many pixels.

    Returns:
        The same shape and dtype, with no other ids than there were.
    """
    return _moved(ids, seed, 1, flip_left_right, flip_up_down, crop)


def sounds(
    samples: tf.Tensor | tf.RaggedTensor, seed: tf.Tensor, *, crop: int
) -> tf.Tensor | tf.RaggedTensor:
    """Take a random window of each sound of a batch.

    A window is inside of the sound, whose end is the last sample that is not 0. Shorter
    sound is padded with zeros.

    Args:
        samples: [B, T, C], or ragged [B, (T), C].
        seed: as for `images`.
        crop: the samples of a window.

    Returns:
        The same dtype: [B, crop, C], or ragged with at most as many samples.
    """
    ragged = isinstance(samples, tf.RaggedTensor)
    dense = samples.to_tensor() if ragged else samples
    if ragged:
        lengths = tf.cast(samples.row_lengths(), tf.int32)
    else:
        ends = tf.range(1, tf.shape(dense)[1] + 1)
        heard = tf.reduce_any(dense != 0, axis=-1)
        lengths = tf.maximum(tf.reduce_max(tf.where(heard, ends, 0), axis=1), 0)
    starts = tf.maximum(lengths - crop, 0)
    share = _drawn(seed, dense, _WINDOW) * tf.cast(starts + 1, tf.float32)
    first = tf.minimum(tf.cast(share, tf.int32), starts)
    missing = tf.maximum(crop - tf.shape(dense)[1], 0)
    dense = tf.pad(dense, [[0, 0], [0, missing], [0, 0]])
    at = first[:, tf.newaxis] + tf.range(crop)
    found = tf.gather(dense, at, axis=1, batch_dims=1)
    found = tf.ensure_shape(found, (dense.shape[0], crop, dense.shape[2]))
    if not ragged:
        return found
    kept = tf.minimum(lengths, crop)
    return tf.RaggedTensor.from_tensor(found, tf.cast(kept, tf.int64))


def _drawn(seed: tf.Tensor, batch: tf.Tensor, which: int) -> tf.Tensor:
    """Return what is drawn for each record of a batch: float32 [B] in [0, 1)."""
    shape = (_DRAWS, tf.shape(batch)[0])
    return tf.random.stateless_uniform(shape, seed, alg="philox")[which]


def _moved(
    batch: tf.Tensor,
    seed: tf.Tensor,
    axis: int,
    flip_left_right: bool,
    flip_up_down: bool,
    crop: int,
) -> tf.Tensor:
    """Mirror and move pictures whose rows are along `axis`, and columns along the next."""
    moved = batch
    if crop:
        moved = _shifted(moved, _drawn(seed, batch, _DOWN), axis, crop)
        moved = _shifted(moved, _drawn(seed, batch, _RIGHT), axis + 1, crop)
    if flip_up_down:
        moved = _mirrored(moved, _drawn(seed, batch, _UP_DOWN) < 0.5, axis)
    if flip_left_right:
        moved = _mirrored(moved, _drawn(seed, batch, _LEFT_RIGHT) < 0.5, axis + 1)
    return tf.ensure_shape(moved, batch.shape)


def _mirrored(batch: tf.Tensor, chosen: tf.Tensor, axis: int) -> tf.Tensor:
    """Reverse those records of a batch that are chosen, bool [B]."""
    # Whole records are copied faster than tf.where chooses pixels.
    both = tf.concat([batch, tf.reverse(batch, [axis])], 0)
    count = tf.size(chosen)
    return tf.gather(both, tf.where(chosen, count, 0) + tf.range(count))


def _shifted(batch: tf.Tensor, share: tf.Tensor, axis: int, most: int) -> tf.Tensor:
    """Move each record along an axis by -most to most places, by its share in [0, 1)."""
    size = tf.shape(batch)[axis]
    by = tf.cast(tf.floor(share * (2 * most + 1)), tf.int32) - most
    # Beyond an edge the way leads back, and from the other edge again.
    last = tf.maximum(size - 1, 1)
    at = tf.abs(tf.range(size) + by[:, tf.newaxis]) % (2 * last)
    at = tf.minimum(last - tf.abs(last - at), size - 1)
    # Whole rows are copied faster than single pixels, even with two transpositions.
    order = [0, axis, *(other for other in range(1, batch.shape.rank) if other != axis)]
    back = [order.index(place) for place in range(batch.shape.rank)]
    found = tf.gather(tf.transpose(batch, order), at, axis=1, batch_dims=1)
    return tf.transpose(found, back)


def _recolored(
    pixels: tf.Tensor,
    seed: tf.Tensor,
    brightness: float,
    contrast: float,
    white: int | None,
    alpha: bool,
) -> tf.Tensor:
    """Vary brightness and contrast, of one picture or alike of all in a list."""
    if not brightness and not contrast:
        return pixels
    dtype = pixels.dtype
    low, high = (dtype.min, dtype.max) if dtype.is_integer else (0, white or 1)
    colors = pixels[..., :-1] if alpha else pixels
    values = tf.cast(colors, tf.float32)
    each = [-1] + [1] * (pixels.shape.rank - 1)

    def drawn(which: int) -> tf.Tensor:
        return tf.reshape(2 * _drawn(seed, pixels, which) - 1, each)

    if contrast:
        factor = 1 + contrast * drawn(_CONTRAST)
        mean = tf.reduce_mean(values, axis=(-3, -2), keepdims=True)
        values = values * factor + mean * (1 - factor)
    if brightness:
        values += brightness * drawn(_BRIGHTNESS) * (float(high) - float(low))
    if dtype.is_integer:
        values = tf.round(values)
    if dtype.is_integer or white is not None:
        values = tf.clip_by_value(values, low, high)
    there = tf.reduce_any(colors != 0, axis=(-3, -2, -1), keepdims=True)
    found = tf.where(there, tf.cast(values, dtype), colors)
    return tf.concat([found, pixels[..., -1:]], -1) if alpha else found
