package io.partita.backend.java;

import io.partita.ir.diagnostic.PartitaException;
import java.util.Optional;

/** Turns exceptions of the devices of an emitted program into diagnostics. */
final class DeviceFailures {
  private DeviceFailures() {}

  /** Returns the diagnostic, if the exception states why devices couldn't continue. */
  static Optional<PartitaException> diagnostic(JavaDescription description, Throwable cause) {
    if (!cause.getClass().getName().equals(description.className() + "Channels$Failure")) {
      return Optional.empty();
    }
    try {
      Object reason = cause.getClass().getMethod("reason").invoke(cause);
      int device = (int) cause.getClass().getMethod("device").invoke(cause);
      return Optional.of(diagnostic(reason.toString(), device, cause.getMessage()));
    } catch (ReflectiveOperationException other) {
      return Optional.empty();
    }
  }

  private static PartitaException diagnostic(String reason, int device, String found) {
    String where = "device " + device;
    return switch (reason) {
      case "STALLED" ->
          new PartitaException(
              BackendCode.DEVICES_STALLED,
              "",
              "a device that can continue",
              found,
              "compile the model again; if it still fails, report a bug in Partita");
      case "ENDED" ->
          new PartitaException(
              BackendCode.DEVICE_ENDED,
              where,
              "a device that runs until device 0 ends",
              found,
              "check its messages and its memory, and start all devices again");
      case "UNREACHABLE" ->
          new PartitaException(
              BackendCode.PEER_UNREACHABLE,
              where,
              "a device that listens at its address within 30 seconds",
              found,
              "start it with --device " + device + ", and check addresses and firewalls");
      case "MISMATCH" ->
          new PartitaException(
              BackendCode.PEER_MISMATCH,
              where,
              "devices that were compiled together",
              found,
              "copy one folder that 'partita compile' wrote, and one key, to all devices");
      case "PORT" ->
          new PartitaException(
              BackendCode.PORT_IN_USE,
              where,
              "an address of this computer with a free port",
              found,
              "choose another port in --peers, the same on all devices");
      case "PEERS" ->
          new PartitaException(
              BackendCode.PEERS,
              "--peers",
              "host:port for each device, in their order, separated by commas",
              found,
              "give as many addresses as the program has devices");
      case "KEY" ->
          new PartitaException(
              BackendCode.KEY,
              "--key",
              "the key that 'partita key' made for all devices",
              found,
              "copy the key of the other devices, or make one with 'partita key FILE' for all");
      default ->
          new PartitaException(
              BackendCode.PROGRAM_FAILED, where, "", found, "check the values of the inputs");
    };
  }
}
