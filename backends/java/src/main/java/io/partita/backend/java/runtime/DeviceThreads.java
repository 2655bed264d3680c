package io.partita.backend.java.runtime;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * All devices in this process, one thread each, with a queue from each device to each other one. A
 * deadlock is detected at once: all running devices wait for a queue, and none of the queues is
 * ready.
 */
final class DeviceThreads implements Channels.Devices {
  /** The messages in flight from one device to another. */
  private static final class Link {
    private final int from;
    private final int to;
    private final Queue<Message> messages = new ArrayDeque<>();

    Link(int from, int to) {
      this.from = from;
      this.to = to;
    }
  }

  private static final class Message {
    private final int sync;
    private final byte[] bytes;

    Message(int sync, byte[] bytes) {
      this.sync = sync;
      this.bytes = bytes;
    }
  }

  /** A device that waits until a queue has room or a message. */
  private static final class Wait {
    private final Link link;
    private final boolean sends;
    private final int sync;

    Wait(Link link, boolean sends, int sync) {
      this.link = link;
      this.sends = sends;
      this.sync = sync;
    }

    @Override
    public String toString() {
      return sends
          ? "device " + link.from + " sends to " + link.to + " in sync " + sync
          : "device " + link.to + " receives from " + link.from + " in sync " + sync;
    }
  }

  /** Ends a thread after another device has failed. */
  private static final class Ended extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private final int capacity;
  private final Channels.Device[] devices;
  private final Link[][] links;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition[] changed;
  private final Wait[] waits;
  private final boolean[] running;
  private Throwable failure;
  private int failed;

  /**
   * @param capacity the number of messages that each queue holds
   */
  DeviceThreads(int count, int capacity, Path folder, Channels.Opener opener) throws IOException {
    this.capacity = capacity;
    devices = new Channels.Device[count];
    links = new Link[count][count];
    changed = new Condition[count];
    waits = new Wait[count];
    running = new boolean[count];
    for (int device = 0; device < count; device++) {
      changed[device] = lock.newCondition();
      for (int to = 0; to < count; to++) {
        links[device][to] = new Link(device, to);
      }
      devices[device] = opener.open(folder, device, new Endpoint(device));
    }
  }

  private final class Endpoint extends Channels {
    private final int device;

    Endpoint(int device) {
      this.device = device;
    }

    @Override
    void send(int to, int sync, byte[] message) {
      Link link = links[device][to];
      lock.lock();
      try {
        await(device, new Wait(link, true, sync));
        link.messages.add(new Message(sync, message));
        changed[to].signal();
      } finally {
        lock.unlock();
      }
    }

    @Override
    byte[] receive(int from, int sync, int bytes) {
      Link link = links[from][device];
      Message message;
      lock.lock();
      try {
        await(device, new Wait(link, false, sync));
        message = link.messages.remove();
        changed[from].signal();
      } finally {
        lock.unlock();
      }
      verifyDue(from, sync, bytes, message.sync, message.bytes.length);
      return message.bytes;
    }
  }

  private boolean isReady(Wait wait) {
    int under = wait.link.messages.size();
    return wait.sends ? under < capacity : under > 0;
  }

  private void await(int device, Wait wait) {
    waits[device] = wait;
    while (failure == null && !isReady(wait)) {
      verifyLive();
      if (failure == null) {
        changed[device].awaitUninterruptibly();
      }
    }
    waits[device] = null;
    if (failure != null) {
      throw new Ended();
    }
  }

  /** Fails if all running devices wait and none of them can continue. */
  private void verifyLive() {
    List<String> stalled = new ArrayList<>();
    for (int device = 0; device < devices.length; device++) {
      if (running[device]) {
        if (waits[device] == null || isReady(waits[device])) {
          return;
        }
        stalled.add(waits[device].toString());
      }
    }
    if (!stalled.isEmpty()) {
      String text = String.join("; ", stalled);
      fail(0, new Channels.Failure(Channels.Reason.STALLED, 0, text, null));
    }
  }

  private void fail(int device, Throwable cause) {
    if (failure == null) {
      failure = cause;
      failed = device;
      for (Condition condition : changed) {
        condition.signalAll();
      }
    }
  }

  @Override
  public Object[][] call(Object[][] inputs) {
    return run(false, inputs);
  }

  @Override
  public Object[][] chunk(Object[][] inputs) {
    return run(true, inputs);
  }

  private synchronized Object[][] run(boolean isChunk, Object[][] inputs) {
    Object[][] outputs = new Object[devices.length][];
    begin();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < devices.length; i++) {
      int device = i;
      Runnable work = () -> run(device, isChunk, inputs[device], outputs);
      threads.add(new Thread(work, "device " + device));
    }
    threads.forEach(Thread::start);
    boolean interrupted = false;
    for (Thread thread : threads) {
      interrupted |= join(thread);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure instanceof Error) {
      throw (Error) failure;
    } else if (failure != null) {
      throw Channels.failed(failed, failure);
    }
    return outputs;
  }

  private void begin() {
    failure = null;
    for (int device = 0; device < devices.length; device++) {
      running[device] = true;
      waits[device] = null;
      for (Link link : links[device]) {
        link.messages.clear();
      }
    }
  }

  private void run(int device, boolean isChunk, Object[] inputs, Object[][] outputs) {
    Throwable thrown = null;
    try {
      Channels.Device own = devices[device];
      outputs[device] = isChunk ? own.chunk(inputs) : own.call(inputs);
    } catch (Ended other) {
      // The caller gets the other device's failure.
    } catch (RuntimeException | Error own) {
      thrown = own;
    }
    lock.lock();
    try {
      running[device] = false;
      if (thrown != null) {
        fail(device, thrown);
      } else if (failure == null) {
        verifyLive();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a thread; an interrupt ends the devices, and is reported. */
  private boolean join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        return interrupted;
      } catch (InterruptedException e) {
        interrupted = true;
        lock.lock();
        try {
          fail(0, new IllegalStateException("the caller was interrupted"));
        } finally {
          lock.unlock();
        }
      }
    }
  }

  @Override
  public synchronized void reset() {
    for (Channels.Device device : devices) {
      device.reset();
    }
  }

  /** Does nothing: threads end with each call. */
  @Override
  public void close() {}
}
