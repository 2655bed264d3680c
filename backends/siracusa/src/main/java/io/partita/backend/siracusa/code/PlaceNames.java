package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.RoleFile.Place;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Macros for addresses, named after the model's weights and nodes. Only used ones are defined, and
 * the names are the same in all files of a role.
 */
final class PlaceNames {
  private static final int MAX_LENGTH = 100;

  private final Map<Thing, Place> places = new LinkedHashMap<>();
  private final Map<Thing, String> names = new LinkedHashMap<>();
  private final Map<Thing, String> texts = new LinkedHashMap<>();

  /** A named range of bytes in a memory. */
  private record Thing(Address at, String name, long bytes) {
    boolean has(Address address) {
      return at.memory() == address.memory()
          && at.offset() <= address.offset()
          && address.offset() < at.offset() + bytes;
    }
  }

  /**
   * @param entries the entry points of one role
   */
  PlaceNames(List<ChipSchedule> entries) {
    for (ChipSchedule entry : entries) {
      for (StoredConstant constant : entry.constants()) {
        String part = constant.origin().part();
        texts.put(
            new Thing(constant.at(), constant.name(), constant.bytes()),
            constant.text() + (part.isEmpty() ? "" : " @" + part));
      }
      for (Port state : entry.states()) {
        texts.put(
            new Thing(state.at(), state.name(), state.type().bytes()),
            state.name() + " " + state.type());
      }
    }
    Set<String> taken = new HashSet<>();
    texts.keySet().forEach(thing -> name(thing, taken));
    for (ChipSchedule entry : entries) {
      entry.residences().forEach(residence -> name(thing(residence), taken));
    }
  }

  private static Thing thing(Residence residence) {
    return new Thing(residence.at(), residence.name(), residence.bytes());
  }

  private void name(Thing thing, Set<String> taken) {
    if (names.containsKey(thing)) {
      return;
    }
    String prefix =
        switch (thing.at.memory()) {
          case ChipSchedule.WORKING -> "l1_";
          case ChipSchedule.HOME -> "l2_";
          default -> "l3_";
        };
    String own = prefix + cleaned(thing.name);
    String name = own;
    for (int number = 2; !taken.add(name); number++) {
      name = own + "_" + number;
    }
    names.put(thing, name);
  }

  /** Returns the last letters and digits of a name, where what tells it from others usually is. */
  private static String cleaned(String name) {
    String clean = name.replaceAll("[^A-Za-z0-9]+", "_").replaceAll("^_|_$", "");
    String end = clean.substring(Math.max(0, clean.length() - MAX_LENGTH)).replaceAll("^_", "");
    return end.isEmpty() ? "unnamed" : end;
  }

  /** In address order; L1 first. */
  List<Place> used() {
    return places.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<Thing, Place>>comparingInt(each -> each.getKey().at.memory())
                .thenComparingLong(each -> each.getKey().at.offset()))
        .map(Map.Entry::getValue)
        .toList();
  }

  /**
   * Returns an address in L2.
   *
   * @param step the index of the step that uses it; -1 before a run
   */
  String l2(ChipSchedule entry, int step, long offset) {
    return name(entry, step, Address.home(offset));
  }

  /** Returns an address in L1 or L2, likewise. */
  String name(ChipSchedule entry, int step, Address at) {
    Optional<Thing> thing =
        entry.residences().stream()
            .filter(each -> each.first() <= step && step <= each.last())
            .filter(each -> thing(each).has(at))
            .min(Comparator.comparingLong(Residence::bytes))
            .map(PlaceNames::thing);
    return thing.map(found -> text(found, at.offset())).orElseGet(() -> array(at));
  }

  private static String array(Address at) {
    return (at.isHome() ? "partita_l2 + " : "partita_l1 + ") + hex(at.offset());
  }

  /** An address in L3. */
  String l3(Address at) {
    return texts.keySet().stream()
        .filter(each -> each.has(at))
        .findFirst()
        .map(found -> text(found, at.offset()))
        .orElseGet(() -> hex(at.offset()));
  }

  private String text(Thing thing, long offset) {
    Place place = places.get(thing);
    if (place == null) {
      place = place(thing);
      places.put(thing, place);
    }
    return offset == thing.at.offset()
        ? place.name()
        : place.name() + " + " + hex(offset - thing.at.offset());
  }

  private Place place(Thing thing) {
    boolean isFar = thing.at.memory() > ChipSchedule.HOME;
    String value = isFar ? hex(thing.at.offset()) : "(" + array(thing.at) + ")";
    return new Place(names.get(thing), value, Comments.clean(comment(thing)));
  }

  /** Returns the size before rounding up to whole words. */
  private String comment(Thing thing) {
    String bytes = Comments.grouped(thing.bytes) + " bytes";
    return texts.entrySet().stream()
        .filter(each -> each.getKey().at.equals(thing.at) && each.getKey().name.equals(thing.name))
        .findFirst()
        .map(each -> each.getValue() + ", " + bytes)
        .orElse((thing.name.isEmpty() ? "unnamed" : thing.name) + ", " + bytes);
  }

  private static String hex(long offset) {
    return StepCode.hexadecimal(offset);
  }
}
