package io.partita.ir.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ActionsTest {
  private static final Slice FIRST = new Slice(0, 64);
  private static final Slice SECOND = new Slice(64, 64);

  private static Step receive(int from, Combine combine, Slice... slices) {
    return new Receive(from, List.of(slices), bytes(slices), combine);
  }

  private static Step send(int to, Slice... slices) {
    return new Send(to, List.of(slices), bytes(slices));
  }

  private static long bytes(Slice... slices) {
    return Arrays.stream(slices).mapToLong(slice -> 4 * slice.size()).sum();
  }

  private static Actions of(Step... steps) {
    return Actions.of(List.of(steps));
  }

  /** Returns actions as {@code post 1, finish 1 2 after 3 sends}. */
  private static List<String> text(Actions actions) {
    return actions.list().stream().map(ActionsTest::text).toList();
  }

  private static String text(Action action) {
    String what =
        switch (action) {
          case Action.Send send -> "send " + send.message().to();
          case Action.Post post -> "post " + post.message().from();
          case Action.Load load -> "load" + from(load.messages());
          case Action.Finish finish -> "finish" + from(finish.messages());
        };
    return action.ended() == 0 ? what : what + " after " + action.ended();
  }

  private static String from(List<Receive> messages) {
    return String.join("", messages.stream().map(each -> " " + each.from()).toList());
  }

  /** The head of a group in a tree of four. */
  @Test
  void equalSumsAreJoinedAndSendsGoOn() {
    assertThat(
            text(
                of(
                    receive(1, Combine.ADD, FIRST),
                    receive(2, Combine.ADD, FIRST),
                    receive(3, Combine.ADD, FIRST),
                    send(4, FIRST),
                    receive(4, Combine.REPLACE, FIRST),
                    send(3, FIRST),
                    send(2, FIRST))))
        .containsExactly(
            "post 1",
            "post 2",
            "post 3",
            "finish 1 2 3",
            "send 4",
            // What arrives overwrites what is being sent.
            "post 4 after 1",
            "finish 4 after 1",
            "send 3 after 1",
            "send 2 after 1");
  }

  /** In the last round, the device sends as soon as it has received, and posts afterwards. */
  @Test
  void messagesOfLaterRoundsArePostedWhileTheDeviceWaits() {
    Slice third = new Slice(128, 64);
    Slice fourth = new Slice(192, 64);
    assertThat(
            text(
                of(
                    receive(1, Combine.ADD, FIRST),
                    send(1, FIRST),
                    receive(1, Combine.REPLACE, SECOND),
                    receive(2, Combine.REPLACE, third),
                    receive(4, Combine.REPLACE, fourth),
                    send(3, SECOND),
                    receive(3, Combine.REPLACE, FIRST))))
        .containsExactly(
            "post 1",
            "post 1",
            "post 2",
            "post 4",
            "finish 1",
            "send 1",
            "finish 1",
            "finish 2",
            "finish 4",
            "send 3",
            "post 3 after 1",
            "finish 3 after 1");
  }

  /** Two messages were joined after a send, so it has ended. */
  @Test
  void whatASendHasReadSinceTwoMessagesMayBeWritten() {
    assertThat(
            text(
                of(
                    send(1, FIRST),
                    receive(1, Combine.ADD, SECOND),
                    receive(2, Combine.ADD, SECOND),
                    send(2, SECOND),
                    receive(2, Combine.REPLACE, new Slice(128, 64)),
                    receive(1, Combine.REPLACE, FIRST))))
        .containsExactly(
            "send 1",
            "post 1",
            "post 2",
            "post 2",
            "finish 1 2",
            "send 2",
            "post 1 after 1",
            "finish 2 after 1",
            "finish 1 after 1");
  }

  @Test
  void sumsOfOtherElementsOrFunctionsAreApart() {
    assertThat(
            text(
                of(
                    receive(1, Combine.ADD, FIRST),
                    receive(2, Combine.MAX, FIRST),
                    receive(3, Combine.MAX, SECOND))))
        .containsExactly(
            "post 1", "post 2", "finish 1", "load 2", "post 3", "finish 2", "load 3", "finish 3");
  }

  @Test
  void whatArrivesInPlaceWaitsForThoseThatUseItsElements() {
    Step added = receive(1, Combine.ADD, FIRST);
    assertThat(text(of(added, receive(2, Combine.REPLACE, new Slice(63, 2)))))
        .containsExactly("post 1", "finish 1", "post 2", "finish 2");
    assertThat(text(of(added, receive(2, Combine.REPLACE, SECOND))))
        .containsExactly("post 1", "post 2", "finish 1", "finish 2");
  }

  @Test
  void buffersAreInTwoHalves() {
    Actions actions =
        of(
            receive(1, Combine.ADD, new Slice(0, 3)),
            receive(2, Combine.ADD, new Slice(0, 3)),
            receive(3, Combine.MAX, new Slice(0, 5)),
            receive(4, Combine.REPLACE, SECOND));
    // Multiples of 8 bytes: two messages of 16 and one of 24.
    assertThat(actions.places()).containsExactly(0L, 16L, 32L, 0L);
    assertThat(actions.room()).isEqualTo(64);
  }

  /** What is combined next is loaded after one send, unless more sends follow that are packed. */
  @Test
  void whatIsCombinedNextIsLoadedBefore() {
    Step first = receive(1, Combine.ADD, FIRST);
    Step second = receive(1, Combine.ADD, SECOND);
    assertThat(text(of(first, send(2, FIRST), second, send(2, SECOND))))
        .containsExactly("post 1", "post 1", "finish 1", "send 2", "load 1", "finish 1", "send 2");
    Step packed = send(2, new Slice(0, 3), new Slice(9, 3));
    assertThat(text(of(first, send(3, FIRST), packed, second)))
        .containsExactly("post 1", "finish 1", "send 3", "send 2", "post 1", "finish 1");
    assertThat(text(of(first, send(2, FIRST), receive(1, Combine.REPLACE, SECOND))))
        .containsExactly("post 1", "post 1", "finish 1", "send 2", "finish 1");
  }

  /** A second half would need much memory. */
  @Test
  void longMessagesShareABuffer() {
    Slice large = new Slice(0, 20 << 10);
    Actions actions = of(receive(1, Combine.ADD, large), receive(2, Combine.ADD, large));
    assertThat(actions.room()).isEqualTo(80 << 10);
    assertThat(text(actions)).containsExactly("post 1", "finish 1", "post 2", "finish 2");
  }

  @Test
  void messagesUnderWayAreLimited() {
    Step[] sends = IntStream.range(1, 20).mapToObj(i -> send(i, FIRST)).toArray(Step[]::new);
    assertThat(of(sends).list())
        .extracting(Action::ended)
        .startsWith(0)
        .endsWith(19 - Actions.UNDER_WAY);
  }

  /**
   * Random steps: every message is posted once, before it is finished, in the order of the steps of
   * its channel; and nothing is written while a message that uses it is under way.
   */
  @Test
  void nothingIsWrittenThatAMessageUses() {
    SplittableRandom random = new SplittableRandom(5);
    for (int sample = 0; sample < 2000; sample++) {
      List<Step> steps = new ArrayList<>();
      for (int count = random.nextInt(1, 30); count > 0; count--) {
        steps.add(step(random));
      }
      new Replay(steps, Actions.of(steps)).verify();
    }
  }

  private static Step step(SplittableRandom random) {
    Slice slice = new Slice(random.nextLong(6) * 4, random.nextLong(1, 9));
    Slice[] slices =
        random.nextInt(4) == 0
            ? new Slice[] {slice, new Slice(slice.end() + 2, 3)}
            : new Slice[] {slice};
    int peer = random.nextInt(4);
    return switch (random.nextInt(3)) {
      case 0 -> send(peer, slices);
      case 1 -> receive(peer, Combine.REPLACE, slices);
      default -> receive(peer, Combine.ADD, slices);
    };
  }

  /** Plays actions. A started message uses its place until it is known to have ended. */
  private static final class Replay {
    private final List<Step> steps;
    private final Actions actions;
    private final List<Integer> sends = new ArrayList<>();
    private final List<Integer> posts = new ArrayList<>();
    private final List<Integer> done = new ArrayList<>();
    private int ended;

    /** What has been loaded for the next message to be finished. */
    private Optional<Action.Load> loaded = Optional.empty();

    Replay(List<Step> steps, Actions actions) {
      this.steps = steps;
      this.actions = actions;
    }

    void verify() {
      for (Action action : actions.list()) {
        assertThat(action.ended()).isBetween(ended, sends.size());
        ended = action.ended();
        switch (action) {
          case Action.Send send -> {
            // A message that is packed passes through the room of what is loaded.
            assertThat(loaded.isEmpty() || send.message().isInPlace()).isTrue();
            requireUnusedElements(send.step(), false);
            requireUnusedBuffer(send.step());
            sends.add(send.step());
            done.add(send.step());
            assertThat(sends.size() - ended).isLessThanOrEqualTo(Actions.UNDER_WAY);
          }
          case Action.Post post -> {
            if (post.message().isInPlace()) {
              requireUnusedElements(post.step(), true);
            }
            requireUnusedBuffer(post.step());
            assertThat(loaded.stream())
                .noneMatch(load -> post.message().isInPlace() && overlaps(post, load));
            posts.add(post.step());
            assertThat(posts.size() - finished()).isLessThanOrEqualTo(Actions.UNDER_WAY);
          }
          case Action.Load load -> {
            assertThat(loaded).isEmpty();
            assertThat(posts.subList(finished(), posts.size()))
                .startsWith(
                    IntStream.range(0, load.messages().size())
                        .mapToObj(i -> load.step() + i)
                        .toArray(Integer[]::new));
            requireUnusedElements(load.step(), false);
            loaded = Optional.of(load);
          }
          case Action.Finish finish -> {
            loaded.ifPresent(load -> assertThat(load.messages()).isEqualTo(finish.messages()));
            loaded = Optional.empty();
            for (int i = 0; i < finish.messages().size(); i++) {
              int step = finish.step() + i;
              assertThat(posts.get(finished())).isEqualTo(step);
              done.add(step);
              if (!finish.message().isInPlace()) {
                requireUnusedElements(step, true);
              }
            }
          }
        }
      }
      assertThat(done).isEqualTo(IntStream.range(0, steps.size()).boxed().toList());
    }

    private static boolean overlaps(Action one, Action other) {
      return one.message().slices().stream()
          .anyMatch(each -> other.message().slices().stream().anyMatch(each::overlaps));
    }

    private int finished() {
      return done.size() - sends.size();
    }

    /** Requires that no other message writes the elements of a step, or reads what it writes. */
    private void requireUnusedElements(int step, boolean writes) {
      Step own = steps.get(step);
      for (int other : underWay(step)) {
        Step used = steps.get(other);
        if (used.isInPlace() && (writes || used instanceof Receive)) {
          assertThat(used.slices())
              .noneMatch(each -> own.slices().stream().anyMatch(each::overlaps));
        }
      }
    }

    private void requireUnusedBuffer(int step) {
      Step own = steps.get(step);
      for (int other : underWay(step)) {
        Step used = steps.get(other);
        if (!used.isInPlace() && !own.isInPlace()) {
          long place = actions.places().get(step);
          long taken = actions.places().get(other);
          assertThat(place >= taken + used.bytes() || taken >= place + own.bytes()).isTrue();
        }
      }
    }

    private List<Integer> underWay(int step) {
      List<Integer> all = new ArrayList<>(sends.subList(ended, sends.size()));
      posts.stream().filter(post -> !done.contains(post)).forEach(all::add);
      all.remove(Integer.valueOf(step));
      return all;
    }
  }
}
