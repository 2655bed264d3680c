package io.partita.ir.function;

/**
 * The error function to double precision, by the rational approximations of W. J. Cody, "Rational
 * Chebyshev approximations for the error function", Mathematics of Computation 23 (1969), 631-637.
 */
public final class ErrorFunction {
  /** Numerator and denominator for |x| up to 0.46875. */
  private static final double[] NEAR_NUMERATOR = {
    1.85777706184603153e-1,
    3.16112374387056560e00,
    1.13864154151050156e02,
    3.77485237685302021e02,
    3.20937758913846947e03
  };

  private static final double[] NEAR_DENOMINATOR = {
    1.0,
    2.36012909523441209e01,
    2.44024637934444173e02,
    1.28261652607737228e03,
    2.84423683343917062e03
  };

  /** Numerator and denominator for |x| up to 4. */
  private static final double[] MIDDLE_NUMERATOR = {
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e00,
    6.61191906371416295e01,
    2.98635138197400131e02,
    8.81952221241769090e02,
    1.71204761263407058e03,
    2.05107837782607147e03,
    1.23033935479799725e03
  };

  private static final double[] MIDDLE_DENOMINATOR = {
    1.0,
    1.57449261107098347e01,
    1.17693950891312499e02,
    5.37181101862009858e02,
    1.62138957456669019e03,
    3.29079923573345963e03,
    4.36261909014324716e03,
    3.43936767414372164e03,
    1.23033935480374942e03
  };

  /** Numerator and denominator beyond 4, polynomials in 1/x². */
  private static final double[] FAR_NUMERATOR = {
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4
  };

  private static final double[] FAR_DENOMINATOR = {
    1.0,
    2.56852019228982242e00,
    1.87295284992346725e00,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3
  };

  private static final double INVERSE_ROOT_PI = 0.56418958354775628695;

  private ErrorFunction() {}

  /** {@code 2/√π ∫ e^(-t²) dt} from 0 to x. */
  public static double erf(double x) {
    double magnitude = Math.abs(x);
    if (magnitude <= 0.46875) {
      double square = x * x;
      return x * polynomial(NEAR_NUMERATOR, square) / polynomial(NEAR_DENOMINATOR, square);
    }
    if (magnitude > 6) {
      return Math.signum(x);
    }
    return Math.signum(x) * (0.5 - complement(magnitude) + 0.5);
  }

  /** 1 - erf(x) for x from 0.46875 to 6. */
  private static double complement(double x) {
    // e^(-x²) in two factors, so that the rounding error of the square isn't amplified.
    double coarse = Math.floor(x * 16) / 16;
    double exponential = Math.exp(-coarse * coarse) * Math.exp(-(x - coarse) * (x + coarse));
    if (x <= 4) {
      return exponential * polynomial(MIDDLE_NUMERATOR, x) / polynomial(MIDDLE_DENOMINATOR, x);
    }
    double y = 1 / (x * x);
    double ratio = y * polynomial(FAR_NUMERATOR, y) / polynomial(FAR_DENOMINATOR, y);
    return exponential * (INVERSE_ROOT_PI - ratio) / x;
  }

  private static double polynomial(double[] coefficients, double x) {
    double sum = 0;
    for (double coefficient : coefficients) {
      sum = sum * x + coefficient;
    }
    return sum;
  }
}
