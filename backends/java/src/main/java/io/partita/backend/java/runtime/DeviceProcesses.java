package io.partita.backend.java.runtime;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * All devices, each in its own process, as seen from device 0, which calls the others. The
 * processes send each other a heartbeat twice a second, with what they wait for. A process that is
 * silent for a while is lost, and if all wait and nothing moves, they are stalled.
 */
final class DeviceProcesses implements Channels.Devices {
  static final int STALL_MILLISECONDS = 3000;
  private static final int LOST_MILLISECONDS = 20_000;
  private static final int PULSE_MILLISECONDS = 500;

  /** Frame numbers of calls. */
  private static final int CALL = 1;

  private static final int RESET = 2;
  private static final int CLOSE = 3;
  private static final int RESULT = 4;
  private static final int FAILURE = 5;
  private static final int PULSE = 6;
  private static final int CHUNK = 7;

  /** How long a device has waited for the same message. */
  private static final class Pulse {
    private String state = "";
    private long since;
    private long heard;

    /** Parses the result of {@link DeviceProcesses#pulse}. */
    void hear(String found) {
      heard = now();
      since = found.equals(state) ? since : heard;
      state = found;
    }

    /** Nanoseconds since a fixed earlier time. */
    private static long now() {
      return System.nanoTime() - START;
    }
  }

  private static final long START = System.nanoTime();

  /** The known state of another device. */
  private static final class Peer {
    private final Frames frames;
    private final Pulse pulse = new Pulse();
    private Object[] result;

    Peer(Frames frames) {
      this.frames = frames;
    }
  }

  private final SocketChannels channels;
  private final Channels.Device own;
  private final Map<Integer, Peer> peers = new ConcurrentSkipListMap<>();
  private Object[] ownResult;
  private final Pulse ownPulse = new Pulse();
  private Channels.Failure failure;
  private volatile boolean closed;

  DeviceProcesses(SocketChannels channels, Path folder, Channels.Opener opener) throws IOException {
    this.channels = channels;
    own = opener.open(folder, 0, channels);
    channels.calls.forEach((device, frames) -> peers.put(device, new Peer(frames)));
    peers.forEach((device, peer) -> start("calls of device " + device, () -> listen(device, peer)));
    start("pulse", () -> beat(channels));
  }

  private static Thread start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Sends heartbeats to the others until the connection ends. */
  private static void beat(SocketChannels channels) {
    try {
      while (!channels.calls.isEmpty()) {
        for (Frames frames : channels.calls.values()) {
          frames.write(PULSE, pulse(channels).getBytes(StandardCharsets.UTF_8));
        }
        Thread.sleep(PULSE_MILLISECONDS);
      }
    } catch (IOException | InterruptedException ended) {
      // The reader of the connection notices this too.
    }
  }

  /** The message that a device waits for, and its progress; empty while it computes. */
  private static String pulse(SocketChannels channels) {
    String waiting = channels.waiting;
    return waiting.isEmpty() ? "" : channels.progress.get() + " " + waiting;
  }

  private void listen(int device, Peer peer) {
    try {
      peer.frames.socket.setSoTimeout(LOST_MILLISECONDS);
      while (true) {
        Frames.Frame frame = peer.frames.read(() -> {});
        synchronized (this) {
          take(device, peer, frame);
          notifyAll();
        }
      }
    } catch (IOException e) {
      String text = closed ? "closed" : "its process ended or became unreachable";
      fail(new Channels.Failure(Channels.Reason.ENDED, device, text, e));
    } catch (RuntimeException wrong) {
      fail(Channels.failed(device, wrong));
    }
  }

  private void take(int device, Peer peer, Frames.Frame frame) {
    switch (frame.number) {
      case RESULT -> peer.result = Frames.arrays(frame.bytes);
      case FAILURE -> fail(failure(frame.bytes));
      case PULSE -> peer.pulse.hear(new String(frame.bytes, StandardCharsets.UTF_8));
      default -> throw new IllegalStateException("frame " + frame.number + " from " + device);
    }
  }

  /**
   * The first failure counts, unless it only reports that a device ended and another gives the
   * reason.
   */
  private synchronized void fail(Channels.Failure cause) {
    boolean better =
        failure != null
            && failure.reason() == Channels.Reason.ENDED
            && cause.reason() != Channels.Reason.ENDED;
    if (failure == null || better) {
      failure = cause;
    }
    notifyAll();
  }

  @Override
  public Object[][] call(Object[][] inputs) {
    return run(CALL, inputs);
  }

  @Override
  public Object[][] chunk(Object[][] inputs) {
    return run(CHUNK, inputs);
  }

  /**
   * @param call {@link #CALL} or {@link #CHUNK}
   */
  private synchronized Object[][] run(int call, Object[][] inputs) {
    verifyGoesOn();
    ownResult = null;
    ownPulse.hear("");
    peers.values().forEach(DeviceProcesses::begin);
    peers.forEach((device, peer) -> tell(device, call, Frames.bytes(inputs[device])));
    start("device 0", () -> callOwn(call, inputs[0]));
    try {
      while (failure == null && !isDone()) {
        wait(PULSE_MILLISECONDS);
        verifyLive();
      }
      if (failure != null && failure.reason() == Channels.Reason.ENDED) {
        awaitReason();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(Channels.failed(0, new IllegalStateException("the caller was interrupted")));
    }
    verifyGoesOn();
    Object[][] outputs = new Object[peers.size() + 1][];
    outputs[0] = ownResult;
    peers.forEach((device, peer) -> outputs[device] = peer.result);
    return outputs;
  }

  private static void begin(Peer peer) {
    peer.result = null;
    peer.pulse.hear("");
  }

  /** A device that fails reports it, but another may notice its end earlier. */
  private void awaitReason() throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PULSE_MILLISECONDS);
    for (long left = PULSE_MILLISECONDS; left > 0; ) {
      wait(left);
      left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    }
  }

  private void verifyGoesOn() {
    if (failure != null) {
      channels.end(failure);
      throw failure;
    }
  }

  private void tell(int device, int number, byte[] bytes) {
    try {
      peers.get(device).frames.write(number, bytes);
    } catch (IOException e) {
      String text = "its process ended or became unreachable";
      fail(new Channels.Failure(Channels.Reason.ENDED, device, text, e));
    }
  }

  private void callOwn(int call, Object[] inputs) {
    try {
      Object[] result = called(own, call, inputs);
      synchronized (this) {
        ownResult = result;
        notifyAll();
      }
    } catch (RuntimeException | Error e) {
      fail(Channels.failed(0, e));
    }
  }

  private static Object[] called(Channels.Device device, int call, Object[] inputs) {
    return call == CHUNK ? device.chunk(inputs) : device.call(inputs);
  }

  private boolean isDone() {
    return ownResult != null && peers.values().stream().allMatch(peer -> peer.result != null);
  }

  /** Fails if all running devices have waited for a while and nothing has moved. */
  private void verifyLive() {
    ownPulse.hear(pulse(channels));
    List<String> waits = new ArrayList<>();
    long since = Long.MIN_VALUE;
    long until = Long.MAX_VALUE;
    for (Pulse pulse : running()) {
      if (pulse.state.isEmpty()) {
        return;
      }
      waits.add(pulse.state.substring(pulse.state.indexOf(' ') + 1));
      since = Math.max(since, pulse.since);
      until = Math.min(until, pulse.heard);
    }
    if (!waits.isEmpty() && until - since > TimeUnit.MILLISECONDS.toNanos(STALL_MILLISECONDS)) {
      String text = String.join("; ", waits);
      fail(new Channels.Failure(Channels.Reason.STALLED, 0, text, null));
    }
  }

  private List<Pulse> running() {
    List<Pulse> running = new ArrayList<>();
    if (ownResult == null) {
      running.add(ownPulse);
    }
    for (Peer peer : peers.values()) {
      if (peer.result == null) {
        running.add(peer.pulse);
      }
    }
    return running;
  }

  @Override
  public synchronized void reset() {
    verifyGoesOn();
    own.reset();
    peers.keySet().forEach(device -> tell(device, RESET, new byte[0]));
    verifyGoesOn();
  }

  @Override
  public void close() {
    closed = true;
    peers.keySet().forEach(device -> tell(device, CLOSE, new byte[0]));
    channels.close();
  }

  /** Computes for device 0 until it ends the program. */
  static void serve(int self, SocketChannels channels, Path folder, Channels.Opener opener)
      throws IOException {
    try (channels) {
      Channels.Device device = opener.open(folder, self, channels);
      Frames calls = channels.calls.get(0);
      BlockingQueue<Frames.Frame> due = new LinkedBlockingQueue<>();
      start("calls", () -> listen(calls, due, channels));
      start("pulse", () -> beat(channels));
      while (answer(self, device, due.take(), calls)) {
        // Each iteration is a call.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void listen(
      Frames calls, BlockingQueue<Frames.Frame> due, SocketChannels channels) {
    try {
      calls.socket.setSoTimeout(LOST_MILLISECONDS);
      while (true) {
        Frames.Frame frame = calls.read(() -> {});
        if (frame.number != PULSE) {
          due.add(frame);
        }
      }
    } catch (IOException e) {
      String text = "its process ended or became unreachable";
      Channels.Failure lost = new Channels.Failure(Channels.Reason.ENDED, 0, text, e);
      channels.end(lost);
      due.add(new Frames.Frame(FAILURE, bytes(lost)));
    }
  }

  private static boolean answer(int self, Channels.Device device, Frames.Frame due, Frames calls)
      throws IOException {
    switch (due.number) {
      case CALL, CHUNK -> {
        try {
          Object[] inputs = Frames.arrays(due.bytes);
          calls.write(RESULT, Frames.bytes(called(device, due.number, inputs)));
        } catch (RuntimeException | Error e) {
          Channels.Failure failure = Channels.failed(self, e);
          calls.write(FAILURE, bytes(failure));
          throw failure;
        }
      }
      case RESET -> device.reset();
      case CLOSE -> {
        return false;
      }
      case FAILURE -> throw failure(due.bytes);
      default -> throw new IllegalStateException("frame " + due.number + " from device 0");
    }
    return true;
  }

  private static byte[] bytes(Channels.Failure failure) {
    String text = failure.reason() + " " + failure.device() + " " + failure.getMessage();
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Channels.Failure failure(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    String[] parts = text.split(" ", 3);
    if (parts.length < 3) {
      throw new IllegalArgumentException("a failure without a reason: " + text);
    }
    Channels.Reason reason = Channels.Reason.valueOf(parts[0]);
    return new Channels.Failure(reason, Integer.parseInt(parts[1]), parts[2], null);
  }
}
