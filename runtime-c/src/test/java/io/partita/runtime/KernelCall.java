package io.partita.runtime;

import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelArguments;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The name of a kernel and its arguments in the order of the fields of its struct, each aligned to
 * its size.
 */
final class KernelCall {
  /**
   * @param isResult whether the contents afterwards are a result; not if the kernel only works
   *     there
   */
  private record Buffer(TensorType type, boolean written, boolean isResult, byte[] contents) {}

  private sealed interface Field {
    record Number(int bytes, long value) implements Field {}

    /** A pointer to a buffer. */
    record Pointer(int buffer) implements Field {}

    /** A null pointer. */
    record Absent() implements Field {}

    default int bytes(int pointerBytes) {
      return switch (this) {
        case Number number -> number.bytes;
        case Pointer pointer -> pointerBytes;
        case Absent absent -> pointerBytes;
      };
    }
  }

  private final String kernel;
  private final List<Field> fields = new ArrayList<>();
  private final List<Buffer> buffers = new ArrayList<>();
  private final List<Field.Pointer> pointers = new ArrayList<>();

  KernelCall(String kernel) {
    this.kernel = kernel;
  }

  /** Adds a pointer to read-only data. */
  KernelCall in(Tensor tensor) {
    return pointer(new Buffer(tensor.type(), false, false, bytes(tensor)));
  }

  /** Adds a pointer to data that is read and written. */
  KernelCall inOut(Tensor tensor) {
    return pointer(new Buffer(tensor.type(), true, true, bytes(tensor)));
  }

  /** Adds a pointer to written data, which initially has a pattern. */
  KernelCall out(TensorType type) {
    return written(type, true);
  }

  /** Adds a pointer to memory to work in, which initially has a pattern. */
  KernelCall working(TensorType type) {
    return written(type, false);
  }

  private KernelCall written(TensorType type, boolean isResult) {
    byte[] contents = new byte[Math.toIntExact(type.bytes())];
    java.util.Arrays.fill(contents, (byte) 0xA5);
    return pointer(new Buffer(type, true, isResult, contents));
  }

  /** A null pointer. */
  KernelCall absent() {
    fields.add(new Field.Absent());
    return this;
  }

  /** Adds a pointer, or null. */
  KernelCall inIf(boolean present, List<Tensor> operands, int index) {
    return present ? in(operands.get(index)) : absent();
  }

  /** Adds another pointer to the data of a pointer. */
  KernelCall same(int pointer) {
    return pointer(pointers.get(pointer));
  }

  private KernelCall pointer(Buffer buffer) {
    buffers.add(buffer);
    return pointer(new Field.Pointer(buffers.size() - 1));
  }

  private KernelCall pointer(Field.Pointer pointer) {
    pointers.add(pointer);
    fields.add(pointer);
    return this;
  }

  KernelCall i32(long... values) {
    for (long value : values) {
      int number = Math.toIntExact(value);
      number(4, number);
    }
    return this;
  }

  KernelCall i64(long... values) {
    for (long value : values) {
      number(8, value);
    }
    return this;
  }

  KernelCall f32(double value) {
    return number(4, Float.floatToRawIntBits((float) value));
  }

  private KernelCall number(int bytes, long value) {
    fields.add(new Field.Number(bytes, value));
    return this;
  }

  /** Returns the struct in C's layout, with zeros for pointers and a list of their positions. */
  private byte[] struct(int pointerBytes, List<Integer> places) {
    ByteArrayOutputStream struct = new ByteArrayOutputStream();
    for (Field field : fields) {
      int bytes = field.bytes(pointerBytes);
      align(struct, bytes);
      if (field instanceof Field.Pointer) {
        places.add(struct.size());
      }
      long value = field instanceof Field.Number number ? number.value : 0;
      for (int i = 0; i < bytes; i++) {
        struct.write((int) (value >> (8 * i)));
      }
    }
    align(struct, 8);
    return struct.toByteArray();
  }

  private static void align(ByteArrayOutputStream struct, int bytes) {
    while (struct.size() % bytes != 0) {
      struct.write(0);
    }
  }

  private static byte[] bytes(Tensor tensor) {
    return tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
  }

  /** Returns the format of {@code kernel_server.c} for a pointer size. */
  byte[] request(int cores, boolean backwards, int pointerBytes) {
    List<Integer> places = new ArrayList<>();
    byte[] struct = struct(pointerBytes, places);
    int size = 100 + kernel.length() + struct.length + 12 * pointers.size();
    for (Buffer buffer : buffers) {
      size += 8 + buffer.contents.length;
    }
    ByteBuffer request = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    request
        .putInt(kernel.length())
        .put(kernel.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    request.putInt(cores).putInt(backwards ? 1 : 0);
    request.putInt(struct.length).put(struct);
    request.putInt(pointers.size());
    for (int i = 0; i < places.size(); i++) {
      request.putInt(places.get(i)).putInt(pointers.get(i).buffer).putInt(0);
    }
    request.putInt(buffers.size());
    for (Buffer buffer : buffers) {
      request.putInt(buffer.contents.length).putInt(buffer.written ? 1 : 0).put(buffer.contents);
    }
    return java.util.Arrays.copyOf(request.array(), request.position());
  }

  /** Returns the number of bytes of the reply. */
  int replySize() {
    return buffers.stream().filter(Buffer::written).mapToInt(b -> b.contents.length).sum();
  }

  /** Returns the results, in the order of the pointers. */
  List<Tensor> results(byte[] reply) {
    List<Tensor> results = new ArrayList<>();
    int at = 0;
    for (Buffer buffer : buffers) {
      if (buffer.written) {
        int end = at + buffer.contents.length;
        if (!buffer.isResult) {
          at = end;
          continue;
        }
        MemorySegment data = MemorySegment.ofArray(java.util.Arrays.copyOfRange(reply, at, end));
        Tensor raw = Tensor.of(buffer.type, data);
        // Accessors return an array of the element's kind without a copy.
        results.add(
            buffer.type.element() == ElementType.F32 ? Tensor.of(buffer.type, raw.floats()) : raw);
        at = end;
      }
    }
    return results;
  }

  String kernel() {
    return kernel;
  }

  /**
   * Returns the results of the schedule evaluator, in the order of the pointers.
   *
   * @param names the names of the struct's fields, in order
   */
  List<Tensor> evaluated(Kernel meaning, List<String> names) {
    List<byte[]> memory = buffers.stream().map(buffer -> buffer.contents.clone()).toList();
    meaning.meaning().run(new NamedFields(fields, names, memory));
    ByteArrayOutputStream reply = new ByteArrayOutputStream();
    for (int i = 0; i < buffers.size(); i++) {
      if (buffers.get(i).written) {
        reply.writeBytes(memory.get(i));
      }
    }
    return results(reply.toByteArray());
  }

  private record NamedFields(List<Field> fields, List<String> names, List<byte[]> memory)
      implements KernelArguments {
    private Field field(String name) {
      int index = names.indexOf(name);
      if (index < 0) {
        throw new IllegalArgumentException("no field " + name + " among " + names);
      }
      return index < fields.size() ? fields.get(index) : new Field.Number(Integer.BYTES, 0);
    }

    @Override
    public long integer(String name) {
      return ((Field.Number) field(name)).value;
    }

    @Override
    public float number(String name) {
      return Float.intBitsToFloat((int) integer(name));
    }

    @Override
    public int[] integers(String name) {
      List<Integer> values = new ArrayList<>();
      for (int i = 0; names.contains(name + "[" + i + "]"); i++) {
        values.add((int) integer(name + "[" + i + "]"));
      }
      return values.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public Place place(String name) {
      return switch (field(name)) {
        case Field.Pointer(int buffer) -> new Place(memory.get(buffer), 0);
        case Field.Absent none -> null;
        case Field.Number number -> throw new IllegalArgumentException(name + " is a number");
      };
    }
  }

  @Override
  public String toString() {
    return kernel + " on " + buffers.stream().map(buffer -> buffer.type.toString()).toList();
  }
}
