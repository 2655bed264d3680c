package io.partita.benchmarks.paper;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.benchmarks.paper.Chart.Axis;
import io.partita.benchmarks.paper.Chart.Bar;
import io.partita.benchmarks.paper.Chart.Panel;
import io.partita.benchmarks.paper.Chart.Series;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChartTest {
  @Test
  void linearAxesBeginAtZeroAndEndAtAMark() {
    Axis axis = Axis.over("ms", List.of(0.3, 4.7), false);
    assertThat(axis.marks()).containsExactly(0.0, 1.0, 2.0, 3.0, 4.0, 5.0);
    assertThat(axis.place(0)).isZero();
    assertThat(axis.place(5)).isEqualTo(1);
  }

  @Test
  void logarithmicAxesHoldAllValues() {
    Axis axis = Axis.over("ms", List.of(0.3, 4.7), true);
    assertThat(axis.marks()).containsExactly(0.2, 0.5, 1.0, 2.0, 5.0);
    assertThat(axis.place(0.3)).isBetween(0.0, 1.0);
    assertThat(axis.place(4.7)).isBetween(0.0, 1.0);
    assertThat(axis.place(0.2) + 2 * (axis.place(1) - axis.place(0.2)))
        .isEqualTo(axis.place(5), org.assertj.core.api.Assertions.within(1e-9));
  }

  /** Values of a narrow range lie between two marks. */
  @Test
  void logarithmicAxesHaveAMarkAtBothEnds() {
    Axis axis = Axis.over("mJ", List.of(5.9, 6.9), true);
    assertThat(axis.marks()).containsExactly(5.0, 10.0);
    assertThat(axis.place(10)).isEqualTo(1);
  }

  @Test
  void partsOfABarStackAndEachKindIsNamedOnce() {
    Axis chips = new Axis("chips", 1, 2, true, List.of(1.0, 2.0));
    Axis times = Axis.over("ms", List.of(4.0), false);
    List<Bar> bars = List.of(new Bar(1, List.of(3.0, 1.0)));
    List<Series> points =
        List.of(new Series("published", "red", false, List.of(new double[] {2, 2})));
    Panel panel = new Panel("<block>", chips, times, points, bars);
    String svg =
        Chart.of(
            "title",
            List.of(panel, panel),
            List.of(
                new Series("lower", "blue", false, List.of()),
                new Series("upper", "green", false, List.of())));
    assertThat(svg)
        .contains("&lt;block>")
        .contains("<rect x=\"57.0\" y=\"111.5\" width=\"26.0\" height=\"142.5\" fill=\"blue\"/>")
        .contains("<rect x=\"57.0\" y=\"64.0\" width=\"26.0\" height=\"47.5\" fill=\"green\"/>")
        .contains("<path d=\"M211.0 155.0l8 8m0 -8l-8 8\" stroke=\"red\"");
    assertThat(svg.split(">published<", -1)).hasSize(2);
  }
}
