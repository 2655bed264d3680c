package io.partita.benchmarks;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.ir.tensor.Tensor;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A race of emitted Java and ONNX Runtime with one thread, turn by turn in one process. Both get
 * the same tokens and run in the calling thread, whose processor time is measured, without waiting
 * for other processes.
 */
abstract class Race implements AutoCloseable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  final OrtSession session;
  final ProgramRunner program;
  private final ProgramCompiler compiler = new ProgramCompiler();
  private double worst;

  /**
   * @param onnx the model for ONNX Runtime
   * @param compiled its folder from {@code partita compile}
   */
  Race(Path onnx, Path compiled) throws OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(1);
      options.setInterOpNumThreads(1);
      this.session = environment.createSession(onnx.toString(), options);
    }
    this.program = ProgramRunner.open(compiler, compiled);
  }

  /** The processor time of a run of each, in milliseconds. */
  record Times(double[] java, double[] onnxRuntime) {
    /** Returns the speed of emitted Java relative to ONNX Runtime. */
    double speed() {
      return median(onnxRuntime) / median(java);
    }

    double javaMedian() {
      return median(java);
    }

    double onnxRuntimeMedian() {
      return median(onnxRuntime);
    }

    private static double median(double[] times) {
      double[] sorted = times.clone();
      Arrays.sort(sorted);
      return sorted[sorted.length / 2];
    }
  }

  /**
   * Times {@code runs} turns after {@code warmUp} untimed ones.
   *
   * @throws OrtException when ONNX Runtime can't run the model
   */
  Times run(int warmUp, int runs) throws OrtException {
    double[] ours = new double[runs];
    double[] theirs = new double[runs];
    for (int turn = -warmUp; turn < runs; turn++) {
      int number = turn + warmUp;
      prepare(number);
      long start = THREADS.getCurrentThreadCpuTime();
      float[] found = runJava(number);
      long middle = THREADS.getCurrentThreadCpuTime();
      float[] expected = runOnnxRuntime(number);
      long end = THREADS.getCurrentThreadCpuTime();
      compare(expected, found);
      if (turn >= 0) {
        ours[turn] = (middle - start) / 1e6;
        theirs[turn] = (end - middle) / 1e6;
      }
    }
    return new Times(ours, theirs);
  }

  /** Untimed work, such as the start of a sequence. */
  abstract void prepare(int turn) throws OrtException;

  abstract float[] runJava(int turn);

  abstract float[] runOnnxRuntime(int turn) throws OrtException;

  float[] logits(List<Tensor> inputs) {
    return program.run(inputs).getFirst().bytes().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  static float[] floats(OnnxTensor tensor) {
    float[] values = new float[tensor.getFloatBuffer().remaining()];
    tensor.getFloatBuffer().get(values);
    return values;
  }

  private void compare(float[] expected, float[] found) {
    double largest = 0;
    double difference = 0;
    for (int i = 0; i < expected.length; i++) {
      largest = Math.max(largest, Math.abs(expected[i]));
      difference = Math.max(difference, Math.abs(expected[i] - found[i]));
    }
    worst = Math.max(worst, difference / largest);
  }

  /** The largest difference of logits so far, relative to the largest logit of the run. */
  double worst() {
    return worst;
  }

  @Override
  public void close() throws OrtException {
    program.close();
    compiler.close();
    session.close();
  }
}
