package io.partita.frontend.onnx.operator;

/**
 * The coordinates in the original tensor of the elements of a resized one, along one axis. They are
 * computed in f32 like in ONNX Runtime, because the rounding of coordinates halfway between two
 * elements depends on it.
 *
 * @param mode the coordinate_transformation_mode of ONNX
 * @param from the original extent
 * @param to the resized extent
 * @param scale the scale of the axis
 * @param start the start of the region of interest, as a fraction of the axis
 * @param end the end of the region of interest
 */
record ResizeCoordinates(String mode, int from, int to, float scale, float start, float end) {
  /** Whether coordinates outside the axis give an extrapolation value. */
  boolean isCrop() {
    return mode.equals("tf_crop_and_resize");
  }

  boolean isKnown() {
    return switch (mode) {
      case "half_pixel",
          "half_pixel_symmetric",
          "pytorch_half_pixel",
          "align_corners",
          "asymmetric",
          "tf_crop_and_resize",
          "tf_half_pixel_for_nn" ->
          true;
      default -> false;
    };
  }

  /** Returns the original coordinate of resized element {@code i}. */
  float at(int i) {
    if (isCrop()) {
      return to > 1
          ? start * (from - 1) + i * (end - start) * (from - 1) / (to - 1)
          : 0.5f * (start + end) * (from - 1);
    }
    if (scale == 1) {
      return i;
    }
    return switch (mode) {
      case "asymmetric" -> i / scale;
      case "align_corners" -> to == 1 ? 0 : (float) i * (from - 1) / (to - 1);
      case "pytorch_half_pixel" -> to > 1 ? (i + 0.5f) / scale - 0.5f : 0;
      case "half_pixel_symmetric" -> symmetric(i);
      case "tf_half_pixel_for_nn" -> (i + 0.5f) / scale;
      default -> (i + 0.5f) / scale - 0.5f;
    };
  }

  /** Computes half_pixel with a fixed centre. */
  private float symmetric(int i) {
    float adjustment = to / (scale * from);
    float offset = from / 2f * (1 - adjustment);
    return offset + (i + 0.5f) / scale - 0.5f;
  }

  boolean isOutside(int i) {
    float x = at(i);
    return isCrop() && (x < 0 || x > from - 1);
  }

  /** Returns the nearest original element of each resized one. */
  long[] nearest(String rounding) {
    long[] indices = new long[to];
    for (int i = 0; i < to; i++) {
      float x = at(i);
      double rounded =
          switch (rounding) {
            case "floor" -> Math.floor(x);
            case "ceil" -> Math.ceil(x);
            case "round_prefer_ceil" -> Math.floor(x + 0.5);
            // Before version 11: up if the axis shrinks, otherwise down.
            case "simple" -> scale < 1 ? Math.ceil(x) : (long) x;
            default -> Math.ceil(x - 0.5);
          };
      indices[i] = Math.clamp((long) rounded, 0, from - 1);
    }
    return indices;
  }
}
