package io.partita.driver;

import io.partita.driver.quantize.QuantizationStep;
import io.partita.driver.quantize.QuantizePass;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.stage.Staged;
import io.partita.ir.text.PirFile;
import io.partita.ir.text.ScheduleFile;
import io.partita.passes.Pipeline;
import io.partita.passes.program.collective.ProgramProof;
import io.partita.passes.program.localize.Localize;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/** Reads models of any stage. */
public final class StagedFile {
  private StagedFile() {}

  /**
   * An ONNX model or the text of a module, of a program ({@code .pir}) or of a schedule ({@code
   * .sched}).
   *
   * @param dims extents of dynamic dimensions of an ONNX model, by name
   * @param values values of inputs of an ONNX model that determine shapes, by name
   * @param pipeline the passes that will run, without those that {@link #rest} leaves out
   * @param notes receives notes for the user
   * @param progress receives the current step
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be read or imported, or a
   *     program's messages can't be proved to arrive
   */
  public static Staged<?> read(
      Path file,
      Map<String, Long> dims,
      Map<String, String> values,
      Pipeline pipeline,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    if (file.toString().endsWith(ScheduleFile.SUFFIX)) {
      return Staged.of(ScheduleFile.read(file));
    }
    if (PirFile.isPir(file)) {
      return PirFile.<Staged<?>>read(file, Staged::of, StagedFile::proved);
    }
    OnnxModel model =
        QuantizationStep.read(QuantizePass.first(pipeline), file, dims, values, notes, progress);
    return Staged.of(OpenCache.imported(model, dims, values, pipeline));
  }

  /** Returns the passes of a pipeline that remain to be run on what was read from a file. */
  public static Pipeline rest(Path file, Pipeline pipeline) {
    boolean isText = file.toString().endsWith(ScheduleFile.SUFFIX) || PirFile.isPir(file);
    return isText ? pipeline : QuantizePass.rest(pipeline);
  }

  private static Staged<Program> proved(Program program) {
    ProgramProof.verify(program, Localize.CAPACITY);
    return Staged.of(program);
  }
}
