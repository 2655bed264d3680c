package io.partita.zoo;

import java.util.Optional;

/**
 * A rotary position embedding whose pairs are the two halves of a head, as in Hugging Face's Llama.
 *
 * @param headSize elements that are rotated, two for an angle
 * @param theta base of the frequencies
 * @param scaling how Llama 3.1 stretches the low frequencies
 */
record Rotary(int headSize, double theta, Optional<Scaling> scaling) {
  /**
   * Llama 3.1's {@code rope_scaling} of type {@code llama3}: wavelengths above {@code
   * originalContext / lowFactor} are stretched by {@code factor}, those below {@code
   * originalContext / highFactor} stay, and those between are interpolated.
   */
  record Scaling(double factor, double lowFactor, double highFactor, double originalContext) {
    double scale(double frequency) {
      double turns = originalContext * frequency / (2 * Math.PI);
      double kept = Math.clamp((turns - lowFactor) / (highFactor - lowFactor), 0, 1);
      return frequency * (kept + (1 - kept) / factor);
    }
  }

  /** Radians per position, {@code [headSize / 2]}. */
  double[] frequencies() {
    double[] frequencies = new double[headSize / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      double frequency = StrictMath.pow(theta, -2.0 * pair / headSize);
      frequencies[pair] = scaling.map(s -> s.scale(frequency)).orElse(frequency);
    }
    return frequencies;
  }
}
