package io.partita.golden;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Binds a test's parameter of type {@link GoldenFolder} to a folder of the project.
 *
 * <pre>{@code
 * @Test
 * void emitsWhatWasReviewed(@Goldens("src/test/golden/decoder") GoldenFolder goldens) {
 *   goldens.assertMatches(Path.of("target/generated-sources/partita/decoder"));
 * }
 * }</pre>
 */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(GoldenExtension.class)
public @interface Goldens {
  /** The folder, relative to the working directory of the tests. */
  String value();

  /** Globs of the files to compare; none for all but weights, checksums and the data of reports. */
  String[] includes() default {};
}
