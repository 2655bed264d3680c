package io.partita.passes.mesh.sync;

/**
 * What quantisation with a codebook loses of the tokens of a calibration. ASTRA trains with tokens
 * to which noise with the residuals' mean and covariance is added; its theorem 1 compares the
 * distances to the exact tokens, as normal distributions.
 *
 * @param error the squared residuals relative to the tokens' squared distance to their mean
 * @param distance the squared 2-Wasserstein distance of quantised tokens
 * @param noisyDistance the same for quantised tokens with noise
 * @param mean of the residuals, by feature
 * @param covariance of the residuals, row by row
 */
public record Residual(
    double error, double distance, double noisyDistance, float[] mean, float[] covariance) {}
