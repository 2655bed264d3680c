package io.partita.runtime;

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
 * A kernel's name and its arguments, given in the order of the fields of its struct, which a C
 * compiler aligns each to its size.
 */
final class KernelCall {
  private record Buffer(TensorType type, boolean written, byte[] contents) {}

  private record Pointer(int place, int buffer) {}

  private final String kernel;
  private final ByteArrayOutputStream fields = new ByteArrayOutputStream();
  private final List<Buffer> buffers = new ArrayList<>();
  private final List<Pointer> pointers = new ArrayList<>();

  KernelCall(String kernel) {
    this.kernel = kernel;
  }

  /** A pointer to what is read only. */
  KernelCall in(Tensor tensor) {
    return pointer(new Buffer(tensor.type(), false, bytes(tensor)));
  }

  /** A pointer to what is read and written. */
  KernelCall inOut(Tensor tensor) {
    return pointer(new Buffer(tensor.type(), true, bytes(tensor)));
  }

  /** A pointer to what is written only; it holds a pattern before. */
  KernelCall out(TensorType type) {
    byte[] contents = new byte[Math.toIntExact(type.bytes())];
    java.util.Arrays.fill(contents, (byte) 0xA5);
    return pointer(new Buffer(type, true, contents));
  }

  /** A null pointer. */
  KernelCall absent() {
    return number(8, 0);
  }

  /** Null unless there is one. */
  KernelCall inIf(boolean present, List<Tensor> operands, int index) {
    return present ? in(operands.get(index)) : absent();
  }

  /** Another pointer to what the pointer of that number points to. */
  KernelCall same(int pointer) {
    align(8);
    pointers.add(new Pointer(fields.size(), pointers.get(pointer).buffer));
    return number(8, 0);
  }

  private KernelCall pointer(Buffer buffer) {
    align(8);
    pointers.add(new Pointer(fields.size(), buffers.size()));
    buffers.add(buffer);
    return number(8, 0);
  }

  KernelCall i32(long... values) {
    for (long value : values) {
      number(4, Math.toIntExact(value));
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
    align(bytes);
    for (int i = 0; i < bytes; i++) {
      fields.write((int) (value >> (8 * i)));
    }
    return this;
  }

  private void align(int bytes) {
    while (fields.size() % bytes != 0) {
      fields.write(0);
    }
  }

  private static byte[] bytes(Tensor tensor) {
    return tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
  }

  /** As {@code kernel_server.c} reads it. */
  byte[] request(int cores, boolean backwards) {
    align(8);
    int size = 100 + kernel.length() + fields.size() + 12 * pointers.size();
    for (Buffer buffer : buffers) {
      size += 8 + buffer.contents.length;
    }
    ByteBuffer request = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    request
        .putInt(kernel.length())
        .put(kernel.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    request.putInt(cores).putInt(backwards ? 1 : 0);
    request.putInt(fields.size()).put(fields.toByteArray());
    request.putInt(pointers.size());
    for (Pointer pointer : pointers) {
      request.putInt(pointer.place).putInt(pointer.buffer).putInt(0);
    }
    request.putInt(buffers.size());
    for (Buffer buffer : buffers) {
      request.putInt(buffer.contents.length).putInt(buffer.written ? 1 : 0).put(buffer.contents);
    }
    return java.util.Arrays.copyOf(request.array(), request.position());
  }

  /** How many bytes the reply has. */
  int replySize() {
    return buffers.stream().filter(Buffer::written).mapToInt(b -> b.contents.length).sum();
  }

  /** What was written, in the order of the pointers. */
  List<Tensor> results(byte[] reply) {
    List<Tensor> results = new ArrayList<>();
    int at = 0;
    for (Buffer buffer : buffers) {
      if (buffer.written) {
        int end = at + buffer.contents.length;
        MemorySegment data = MemorySegment.ofArray(java.util.Arrays.copyOfRange(reply, at, end));
        Tensor raw = Tensor.of(buffer.type, data);
        // An array of the element's own kind is what accessors hand out without a copy.
        results.add(
            buffer.type.element() == ElementType.F32 ? Tensor.of(buffer.type, raw.floats()) : raw);
        at = end;
      }
    }
    return results;
  }

  @Override
  public String toString() {
    return kernel + " on " + buffers.stream().map(buffer -> buffer.type.toString()).toList();
  }
}
