package io.partita.driver.npz;

import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One NumPy array, in the {@code .npy} format, versions 1 to 3: little-endian, row-major or
 * column-major.
 *
 * <p>Format: NumPy Enhancement Proposal 1 and {@code numpy.lib.format}.
 */
final class Npy {
  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
  private static final Pattern DESCRIPTION =
      Pattern.compile("'descr'\\s*:\\s*'([<|=>]?)([a-zA-Z]\\w*)'");
  private static final Pattern ORDER = Pattern.compile("'fortran_order'\\s*:\\s*(True|False)");
  private static final Pattern SHAPE = Pattern.compile("'shape'\\s*:\\s*\\(([^)]*)\\)");
  private static final int MAX_HEADER_LENGTH = 1 << 16;

  private Npy() {}

  /** Whether a file is a single array. */
  static boolean isIn(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return Arrays.equals(in.readNBytes(MAGIC.length), MAGIC);
    }
  }

  /** Reads an array; {@code where} names it in diagnostics. */
  static Tensor read(InputStream stream, String where) throws IOException {
    DataInputStream in = new DataInputStream(stream);
    try {
      String header = readHeader(in, where);
      boolean columnMajor = find(ORDER, header, where).group(1).equals("True");
      TensorType type = new TensorType(elementType(header, where), shape(header, where));
      long bytes = byteCount(type, where);
      byte[] data = in.readNBytes((int) bytes);
      if (data.length < bytes) {
        throw bad(where, bytes + " bytes of data", data.length + " bytes");
      }
      Tensor tensor = Tensor.of(type, MemorySegment.ofArray(data));
      return columnMajor ? toRowMajor(tensor) : tensor;
    } catch (EOFException endOfFile) {
      throw bad(where, "a whole array", "the end of the file");
    }
  }

  private static String readHeader(DataInputStream in, String where) throws IOException {
    byte[] magic = in.readNBytes(MAGIC.length);
    if (!Arrays.equals(magic, MAGIC)) {
      throw bad(where, "the first bytes of a NumPy array", "other bytes");
    }
    int major = in.readUnsignedByte();
    in.readUnsignedByte();
    if (major < 1 || major > 3) {
      throw bad(where, "format version 1, 2 or 3", "version " + major);
    }
    int length =
        major == 1
            ? Short.toUnsignedInt(Short.reverseBytes(in.readShort()))
            : Integer.reverseBytes(in.readInt());
    if (length < 0 || length > MAX_HEADER_LENGTH) {
      throw bad(where, "a header of at most " + MAX_HEADER_LENGTH + " bytes", length + " bytes");
    }
    byte[] header = new byte[length];
    in.readFully(header);
    return new String(header, StandardCharsets.UTF_8);
  }

  private static Matcher find(Pattern pattern, String header, String where) {
    Matcher matcher = pattern.matcher(header);
    if (!matcher.find()) {
      throw bad(where, "a header with descr, fortran_order and shape", header);
    }
    return matcher;
  }

  private static ElementType elementType(String header, String where) {
    Matcher matcher = find(DESCRIPTION, header, where);
    ElementType element =
        switch (matcher.group(2)) {
          case "f8" -> ElementType.F64;
          case "f4" -> ElementType.F32;
          case "f2" -> ElementType.F16;
          case "i8" -> ElementType.I64;
          case "i4" -> ElementType.I32;
          case "i2" -> ElementType.I16;
          case "i1" -> ElementType.I8;
          case "u8" -> ElementType.U64;
          case "u4" -> ElementType.U32;
          case "u2" -> ElementType.U16;
          case "u1" -> ElementType.U8;
          case "b1" -> ElementType.BOOL;
          default -> throw bad(where, "an array of floats, integers or booleans", matcher.group(2));
        };
    if (matcher.group(1).equals(">") && element.bits() > 8) {
      throw new PartitaException(
          DriverCode.BAD_ARRAY,
          where,
          "little-endian data",
          "big-endian data",
          "write array.astype('<" + matcher.group(2) + "')");
    }
    return element;
  }

  private static Shape shape(String header, String where) {
    List<Dim> dims = new ArrayList<>();
    for (String extent : find(SHAPE, header, where).group(1).split(",")) {
      if (!extent.isBlank()) {
        try {
          dims.add(Dim.of(extent(extent.strip())));
        } catch (NumberFormatException notANumber) {
          throw bad(where, "a shape of numbers", extent.strip());
        }
      }
    }
    return new Shape(dims);
  }

  private static long extent(String digits) {
    long extent = Long.parseLong(digits);
    if (extent < 0) {
      throw new NumberFormatException(digits);
    }
    return extent;
  }

  private static long byteCount(TensorType type, String where) {
    try {
      long bytes = Math.multiplyExact(type.shape().elements(), type.element().bits() / 8);
      if (bytes >= 0 && bytes <= Integer.MAX_VALUE - 8) {
        return bytes;
      }
    } catch (ArithmeticException overflow) {
      // said below
    }
    throw bad(where, "an array of less than 2 GiB", type.toString());
  }

  private static Tensor toRowMajor(Tensor tensor) {
    long[] extents = tensor.shape().extents();
    int bytes = tensor.element().bits() / 8;
    MemorySegment target = MemorySegment.ofArray(new byte[tensor.size() * bytes]);
    long[] index = new long[extents.length];
    for (int i = 0; i < tensor.size(); i++) {
      long source = 0;
      for (int axis = extents.length - 1; axis >= 0; axis--) {
        source = source * extents[axis] + index[axis];
      }
      MemorySegment.copy(tensor.bytes(), source * bytes, target, (long) i * bytes, bytes);
      for (int axis = extents.length - 1; axis >= 0 && ++index[axis] == extents[axis]; axis--) {
        index[axis] = 0;
      }
    }
    return Tensor.of(tensor.type(), target);
  }

  /** Writes version 1; bf16 becomes f32, and 4-bit integers bytes, for which NumPy has no types. */
  static void write(Tensor tensor, OutputStream out) throws IOException {
    Tensor stored =
        switch (tensor.element()) {
          case BF16 -> Tensor.ofDoubles(tensor.type().with(ElementType.F32), tensor.doubles());
          case I4 -> Tensor.ofLongs(tensor.type().with(ElementType.I8), tensor.longs());
          case U4 -> Tensor.ofLongs(tensor.type().with(ElementType.U8), tensor.longs());
          case F64, F32, F16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL -> tensor;
        };
    StringBuilder shape = new StringBuilder("(");
    stored.shape().forEach(dim -> shape.append(dim).append(','));
    String header =
        "{'descr': '%s', 'fortran_order': False, 'shape': %s), }"
            .formatted(description(stored.element()), shape);
    int padding = 63 - (MAGIC.length + 4 + header.length()) % 64;
    byte[] bytes = (header + " ".repeat(padding) + "\n").getBytes(StandardCharsets.US_ASCII);
    out.write(MAGIC);
    out.write(new byte[] {1, 0, (byte) bytes.length, (byte) (bytes.length >> 8)});
    out.write(bytes);
    writeData(stored.bytes(), out);
  }

  private static String description(ElementType element) {
    return switch (element) {
      case F64 -> "<f8";
      case F32 -> "<f4";
      case F16 -> "<f2";
      case I64 -> "<i8";
      case I32 -> "<i4";
      case I16 -> "<i2";
      case I8 -> "|i1";
      case U64 -> "<u8";
      case U32 -> "<u4";
      case U16 -> "<u2";
      case U8 -> "|u1";
      case BOOL -> "|b1";
      case BF16, I4, U4 -> throw new IllegalArgumentException(element.text());
    };
  }

  private static void writeData(MemorySegment data, OutputStream out) throws IOException {
    byte[] chunk = new byte[1 << 16];
    for (long at = 0; at < data.byteSize(); at += chunk.length) {
      int count = (int) Math.min(chunk.length, data.byteSize() - at);
      MemorySegment.copy(data, ValueLayout.JAVA_BYTE, at, chunk, 0, count);
      out.write(chunk, 0, count);
    }
  }

  static PartitaException bad(String where, String expected, String found) {
    return new PartitaException(
        DriverCode.BAD_ARRAY, where, expected, found, "write it with numpy.savez");
  }
}
