package io.partita.frontend.onnx.operator;

/**
 * Where along one axis the elements of a resized tensor lie in the original one. All is computed in
 * f32, as ONNX Runtime does: a coordinate that lies halfway between two elements is rounded by it.
 *
 * @param mode ONNX's coordinate_transformation_mode
 * @param from the original extent
 * @param to the resized extent
 * @param scale by which the axis grows
 * @param start the region of interest's start, as a fraction of the axis
 * @param end its end
 */
record ResizeCoordinates(String mode, int from, int to, float scale, float start, float end) {
  /** Whether coordinates outside of the axis stand for an extrapolation value. */
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

  /** The original coordinate of resized element {@code i}. */
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

  /** As half_pixel, but the middle of the whole elements stays in the middle. */
  private float symmetric(int i) {
    float adjustment = to / (scale * from);
    float offset = from / 2f * (1 - adjustment);
    return offset + (i + 0.5f) / scale - 0.5f;
  }

  boolean isOutside(int i) {
    float x = at(i);
    return isCrop() && (x < 0 || x > from - 1);
  }

  /** The nearest original element for each resized one. */
  long[] nearest(String rounding) {
    long[] indices = new long[to];
    for (int i = 0; i < to; i++) {
      float x = at(i);
      double rounded =
          switch (rounding) {
            case "floor" -> Math.floor(x);
            case "ceil" -> Math.ceil(x);
            case "round_prefer_ceil" -> Math.floor(x + 0.5);
            // Before version 11: up where the axis shrinks, otherwise down.
            case "simple" -> scale < 1 ? Math.ceil(x) : (long) x;
            default -> Math.ceil(x - 0.5);
          };
      indices[i] = Math.clamp((long) rounded, 0, from - 1);
    }
    return indices;
  }
}
