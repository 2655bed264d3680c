package io.partita.backend.java;

import java.nio.file.Path;

/** Where the devices of a program for several of them run. */
public sealed interface DeviceHosting {
  /** As threads of this process. */
  record Threads() implements DeviceHosting {}

  /** Each in a process of its own on this computer; device 0 in this process. */
  record Processes() implements DeviceHosting {}

  /**
   * At given addresses; this process is device 0, and the others are started by hand.
   *
   * @param addresses {@code host:port} of each device, separated by commas
   * @param key the file of the key that all devices have
   */
  record Peers(String addresses, Path key) implements DeviceHosting {}
}
