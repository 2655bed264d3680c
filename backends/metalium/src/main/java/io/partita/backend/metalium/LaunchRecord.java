package io.partita.backend.metalium;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What an emulated program with probes writes of a launch on a chip.
 *
 * @param words the words that the kernels read on the first core
 * @param results the elements of each result, row by row
 */
record LaunchRecord(int launch, int chip, List<Integer> words, List<float[]> results) {
  /**
   * Reads all complete records; a program that stopped leaves fewer.
   *
   * @param chips says how many results each launch has
   */
  static List<LaunchRecord> read(Path file, List<ChipValues> chips) throws IOException {
    List<LaunchRecord> records = new ArrayList<>();
    if (!Files.exists(file)) {
      return records;
    }
    List<Map<Integer, Integer>> counts = new ArrayList<>();
    for (ChipValues chip : chips) {
      Map<Integer, Integer> own = new HashMap<>();
      chip.launches().forEach(each -> own.put(each.number(), each.results().size()));
      counts.add(own);
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.remaining() >= 3 * Integer.BYTES) {
      int launch = bytes.getInt();
      int chip = bytes.getInt();
      List<Integer> words = new ArrayList<>();
      for (int left = bytes.getInt(); left > 0 && bytes.remaining() >= Integer.BYTES; left--) {
        words.add(bytes.getInt());
      }
      List<float[]> results = new ArrayList<>();
      for (int left = counts.get(chip).get(launch); left > 0; left--) {
        if (bytes.remaining() < Integer.BYTES) {
          return records;
        }
        float[] elements = new float[bytes.getInt()];
        if (bytes.remaining() < Float.BYTES * elements.length) {
          return records;
        }
        bytes.asFloatBuffer().get(elements);
        bytes.position(bytes.position() + Float.BYTES * elements.length);
        results.add(elements);
      }
      records.add(new LaunchRecord(launch, chip, words, results));
    }
    return records;
  }

  /** A result as a value of the graph. */
  Tensor tensor(int result, TensorType type) {
    float[] elements = results.get(result);
    double[] values = new double[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = elements[i];
    }
    return Tensor.ofDoubles(type, values);
  }
}
