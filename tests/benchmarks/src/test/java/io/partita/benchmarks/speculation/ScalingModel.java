package io.partita.benchmarks.speculation;

/**
 * Llama 3.1 8B on N150 cards at any length of context: figure 7 of the paper. Everything but flash
 * decode takes the measured times of tables 4 to 7. Flash decode takes the measured time at 1k
 * tokens, and then grows linearly by one fitted figure:
 *
 * <p>{@code FD_d(K) = FD_d(1k) + slope (K - 1k) / min(d, 4)}
 *
 * <p>On eight devices it grows as on four, since the paper reports that tensor parallelism gains
 * almost nothing from four to eight devices at long contexts. The sender's speculative flash decode
 * takes as long as flash decode ("almost no overhead"). The receiver waits for two chunks of 256
 * tokens, for which we take the measured time of 1k tokens.
 *
 * @param slope nanoseconds for 1k tokens on one device
 */
record ScalingModel(double slope) {
  static final int LAYERS = 32;

  /** The published gain to which the slope is fitted: at 96k tokens, 8 devices and 87.5 % hits. */
  static final double FITTED_GAIN = 1.65;

  static final int FITTED_CONTEXT = 96;
  static final double BEST_RATE = 0.875;

  /**
   * Finds the slope by bisection. The gain grows with the slope until hits can't hide the exact
   * attention any more, and then falls; the slope is looked for where it grows.
   */
  static ScalingModel fitted() {
    double low = 0;
    double high = LayerProfile.of(4).layer() * 4 / (FITTED_CONTEXT - 1);
    for (int i = 0; i < 60; i++) {
      double middle = (low + high) / 2;
      if (new ScalingModel(middle).gain(8, FITTED_CONTEXT, BEST_RATE) < FITTED_GAIN) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return new ScalingModel(low);
  }

  private static TokenTime time(int devices) {
    LayerProfile profile = LayerProfile.of(devices);
    return new TokenTime(LAYERS, profile.ends(), profile.layer());
  }

  /** The time of flash decode, in nanoseconds. */
  double flashDecode(int devices, int kilotokens) {
    return LayerProfile.of(devices).flashDecode() + slope * (kilotokens - 1) / Math.min(devices, 4);
  }

  /** The time of a token if all devices split the tensors, in nanoseconds. */
  double tensor(int devices, int kilotokens) {
    return time(devices).exact(flashDecode(devices, kilotokens));
  }

  /** The time of a token if one half of the devices speculates for the other, in nanoseconds. */
  double speculative(int devices, int kilotokens, double hitRate) {
    int group = devices / 2;
    TokenTime time = time(group);
    return time.speculative(
        time.wholeHits(hitRate),
        flashDecode(group, kilotokens),
        LayerProfile.of(group).flashDecode());
  }

  /** How many times as fast speculation is as tensor parallelism on as many devices. */
  double gain(int devices, int kilotokens, double hitRate) {
    return tensor(devices, kilotokens) / speculative(devices, kilotokens, hitRate);
  }

  /** What attention adds to a token where all devices split the tensors, in nanoseconds. */
  double tensorAttention(int devices, int kilotokens) {
    return tensor(devices, kilotokens) - time(devices).exact(0);
  }

  /** What attention adds to a token with speculation, in nanoseconds. */
  double speculativeAttention(int devices, int kilotokens, double hitRate) {
    return speculative(devices, kilotokens, hitRate) - time(devices / 2).exact(0);
  }
}
