package io.partita.runtime;

import io.partita.runtime.CCompiler.Build;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Kernels with XpulpV2 instructions against their portable form, on GVSoC. */
@Tag("thorough")
@ExtendWith(WithGvsoc.class)
class AcceleratedKernelsTest {
  @TempDir private Path folder;

  @Test
  void kernelsEqualPortableOnesBitForBit(Gvsoc gvsoc) {
    List<Path> sources =
        Stream.of(
                "src/test/c/accelerated.c",
                "src/test/c/accelerated_products.c",
                "src/test/c/portable_convolution.c",
                "src/test/c/portable_elements.c",
                "src/test/c/portable_products.c",
                "src/test/c/portable_network.c",
                "src/test/c/portable_nibbles.c",
                "src/test/c/portable_attention.c",
                "src/test/c/portable_norm.c",
                "src/test/c/portable_quantize.c",
                "collectives/join.c",
                "kernels/binary_words.c",
                "kernels/convolution.c",
                "kernels/gemm_integer.c",
                "kernels/integer_attention_parts.c",
                "kernels/integer_attention_scores.c",
                "kernels/integer_attention_values.c",
                "kernels/integer_attention_weights.c",
                "kernels/integer_network.c",
                "kernels/integer_network_norm.c",
                "kernels/integer_network_softmax.c",
                "kernels/integer_network_weights.c",
                "kernels/float_functions.c",
                "kernels/levels.c",
                "kernels/lines.c",
                "kernels/nibble_gemm.c",
                "kernels/norm.c",
                "kernels/quantize.c",
                "kernels/unary_relu.c")
            .map(CCompiler.MODULE::resolve)
            .toList();
    Path program = gvsoc.executable("accelerated", Build.SIRACUSA, sources);
    gvsoc.run(program, folder, List.of(new byte[0]));
  }
}
