package io.partita.driver.report;

import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.LoopWork;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TileScratch;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Dimension;
import io.partita.ir.target.DmaChannel;
import io.partita.passes.schedule.tile.LoopTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The memories and kernels of a schedule as JSON, in bytes and cycles. */
final class ScheduleFields {
  private ScheduleFields() {}

  static Map<String, Object> of(EmittedSchedule emitted) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put(
        "roles",
        emitted.schedule().roles().stream()
            .map(role -> role(role, emitted.target().devices().get(role.devices().getFirst())))
            .toList());
    return json;
  }

  private static Map<String, Object> role(ChipSchedule role, ChipKind chip) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("devices", role.devices());
    json.put("chip", chip(chip));
    json.put("memories", role.memories().stream().map(ScheduleFields::memory).toList());
    json.put("near", held(role, ChipSchedule.WORKING));
    json.put("home", held(role, ChipSchedule.HOME));
    json.put("far", far(role));
    json.put("kernels", role.kernels().stream().map(kernel -> kernel(kernel, role, chip)).toList());
    return json;
  }

  private static Map<String, Object> chip(ChipKind chip) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", chip.name());
    json.put("cores", chip.cores());
    json.put("hertz", chip.hertz());
    List<Map<String, Object>> channels = new ArrayList<>();
    for (DmaChannel channel : chip.channels()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("name", channel.name());
      fields.put("bytesPerCycle", channel.bytesPerCycle());
      channels.add(fields);
    }
    json.put("channels", channels);
    return json;
  }

  private static Map<String, Object> memory(MemoryUse memory) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", memory.name());
    json.put("private", memory.isPrivate());
    json.put("used", memory.used());
    json.put("needed", memory.needed());
    json.put("available", memory.available());
    return json;
  }

  /** The live ranges in the home memory or the working one. */
  private static List<Map<String, Object>> held(ChipSchedule role, int memory) {
    Map<String, String> contents = new HashMap<>();
    role.inputs().forEach(port -> contents.put(port.name(), "input"));
    role.outputs().forEach(port -> contents.put(port.name(), "output"));
    role.constants()
        .forEach(
            constant ->
                contents.put(
                    constant.name(), constant.at().isHome() ? "weight" : "fetched weight"));
    role.states()
        .forEach(
            state -> contents.put(state.name(), state.at().isHome() ? "state" : "fetched state"));
    List<Map<String, Object>> regions = new ArrayList<>();
    for (ChipSchedule.Residence residence : role.residences()) {
      if (residence.at().memory() != memory) {
        continue;
      }
      Map<String, Object> fields =
          region(
              residence.name(),
              contents.getOrDefault(residence.name(), "activation"),
              residence.offset(),
              residence.bytes());
      fields.put("first", residence.first());
      fields.put("last", residence.last());
      regions.add(fields);
    }
    return regions;
  }

  /** What is in the memories that transfers reach, all the time. */
  private static List<Map<String, Object>> far(ChipSchedule role) {
    List<Map<String, Object>> regions = new ArrayList<>();
    for (ChipSchedule.StoredConstant constant : role.constants()) {
      addFar(constant.name(), "weight", constant.at(), constant.bytes(), regions);
    }
    for (ChipSchedule.Port state : role.states()) {
      addFar(state.name(), "state", state.at(), state.type().bytes(), regions);
    }
    return regions;
  }

  private static void addFar(
      String name, String content, Address at, long bytes, List<Map<String, Object>> regions) {
    if (at.memory() > ChipSchedule.HOME) {
      Map<String, Object> fields = region(name, content, at.offset(), bytes);
      fields.put("memory", at.memory());
      regions.add(fields);
    }
  }

  private static Map<String, Object> region(String name, String content, long offset, long bytes) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", name);
    fields.put("content", content);
    fields.put("offset", offset);
    fields.put("bytes", bytes);
    return fields;
  }

  /** A loop: its time without waiting for code, its work, and what it has in the working memory. */
  private static Map<String, Object> kernel(TiledKernel kernel, ChipSchedule role, ChipKind chip) {
    LoopTime time = LoopTime.of(kernel, chip);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", kernel.name());
    json.put("tiles", kernel.tiles());
    BlockFields.of(kernel, role.cores()).ifPresent(blocks -> json.put("blocks", blocks));
    json.put("cycles", time.cycles());
    json.put("coldCycles", time.coldCycles());
    json.put("computeCycles", time.computeCycles());
    json.put("loadCycles", time.loadCycles());
    json.put("storeCycles", time.storeCycles());
    json.put("loadedBytes", time.loadedBytes());
    json.put("storedBytes", time.storedBytes());
    json.put("calls", kernel.calls().stream().map(call -> call(call, kernel, chip)).toList());
    json.put("workingBytes", kernel.workingBytes());
    List<Map<String, Object>> tiles = new ArrayList<>();
    for (TileOperand operand : kernel.operands()) {
      Map<String, Object> fields =
          region(
              operand.name(),
              operand.direction().name().toLowerCase(java.util.Locale.ROOT),
              operand.offset(),
              operand.slotBytes());
      fields.put("slots", operand.slots());
      if (operand.slotBytes() > 0) {
        tiles.add(fields);
      }
    }
    for (TileScratch scratch : kernel.scratch()) {
      Map<String, Object> fields =
          region(scratch.name(), "scratch", scratch.offset(), scratch.bytes());
      fields.put("slots", 1);
      tiles.add(fields);
    }
    json.put("working", tiles);
    return json;
  }

  private static Map<String, Object> call(KernelCall call, TiledKernel loop, ChipKind chip) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("function", call.function());
    json.put("class", call.kernel().kernelClass().text());
    json.put("work", LoopWork.of(call, loop));
    json.put(
        "unit", call.kernel().kernelClass().rate() == Dimension.MACS_PER_CYCLE ? "MAC" : "element");
    chip.function(call.kernel().name())
        .map(found -> found.rate())
        .or(
            () ->
                chip.throughput(call.kernel().kernelClass(), call.kernel().element())
                    .map(found -> found.rate()))
        .ifPresent(rate -> json.put("rate", rate));
    return json;
  }
}
