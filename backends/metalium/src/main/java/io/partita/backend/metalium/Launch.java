package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Origin;
import io.partita.ir.message.Slice;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** Programs that the host gives to chips at one time. */
sealed interface Launch {
  /**
   * The same kernels on some chips, whose matrices are at the same addresses.
   *
   * @param chips in ascending order
   */
  record Same(Step step, List<Integer> chips) implements Launch {}

  /**
   * An exchange, or the part of one that fits L1.
   *
   * @param inbox the pages at which packets arrive
   * @param join the function of the vector engine that joins elements; empty if none are joined
   * @param pages the pages of a chip's vector
   * @param gates words of which none may be 0, otherwise the chips take no part
   * @param wire how elements travel
   * @param members the chips that take part, by number
   */
  record Exchange(
      Origin origin,
      Matrix inbox,
      Optional<String> join,
      long pages,
      List<Integer> gates,
      Wire wire,
      SortedMap<Integer, Member> members)
      implements Launch {}

  /**
   * A chip in an exchange.
   *
   * @param result a matrix on all members, where only those with parts {@code after} have elements
   * @param clears whether the padding of the result becomes zeros first
   */
  record Member(
      Optional<Matrix> operand,
      List<Part> before,
      Optional<Matrix> result,
      boolean clears,
      List<Part> after,
      List<Message> messages) {
    public Member {
      before = List.copyOf(before);
      after = List.copyOf(after);
      messages = List.copyOf(messages);
    }
  }

  /**
   * Elements of the vector that are elements of a matrix as well.
   *
   * @param element the first one in the matrix, row by row
   */
  record Part(Slice slice, long element) {}

  /**
   * A message.
   *
   * @param chip the other end
   * @param page the page of the receiver's inbox at which the first packet arrives
   */
  record Message(Kind kind, int chip, Slice slice, long page) {
    enum Kind {
      SEND_FORWARD,
      SEND_BACKWARD,
      RECEIVE,
      RECEIVE_AND_JOIN
    }
  }
}
