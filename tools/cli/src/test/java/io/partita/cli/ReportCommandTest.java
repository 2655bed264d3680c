package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.Port;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the report of programs and plans, also as a browser shows it. */
final class ReportCommandTest {
  private static final String HOSTILE = "</script><script>document.title='owned'</script><b>";
  private static final String TARGET = "siracusa:chips=2";
  private static final long MAX_BYTES = 3_000_000;

  @TempDir Path scratch;

  private Path module() throws IOException {
    Path module = scratch.resolve("hostile.pir");
    String weights = "0.5, ".repeat(63) + "0.5";
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @hostile(%%x: f32[2,8]) -> ("y": f32[2,8]) {
            %%a = constant [%s] : f32[8,8]
            %%b = constant [%s] : f32[8,8]
            %%h = matmul(%%x, %%a) {result = f32} : f32[2,8] "%s" @block0.up
            %%t = tanh(%%h) : f32[2,8] "/tanh" @block0.activation
            %%y = matmul(%%t, %%b) {result = f32} : f32[2,8] "/down" @block0.down
            return %%y
          }
        }
        """
            .formatted(weights, weights, HOSTILE));
    return module;
  }

  private static Invocation done(Object... arguments) {
    Invocation invocation = Invocation.of(arguments);
    assertThat(invocation.exitCode()).as(invocation.out() + invocation.err()).isZero();
    return invocation;
  }

  private Path program() throws IOException {
    Path folder = scratch.resolve("program");
    done("compile", module(), "--target", TARGET, "--devices=2", "-o", folder);
    return folder;
  }

  @Tag("thorough")
  @Test
  void namesOfAModelAreText() throws IOException, InterruptedException {
    Path folder = program();
    assertThat(done("report", folder).out()).contains("report.html");
    Path page = folder.resolve("report.html");
    String html = Files.readString(page);
    assertThat(html).doesNotContain(HOSTILE).doesNotContain("<script>document");
    assertThat(Files.size(page)).isLessThan(MAX_BYTES);
    assertThat(html).doesNotContainPattern("(src|href)=\"(https?:)?//");
    Browser browser = Browser.start(scratch);
    String document = browser.document(page, "");
    assertThat(document)
        .contains("data-ready=\"true\"")
        .contains("<title>hostile.pir on siracusa</title>")
        .contains("partita compile hostile.pir --target")
        .contains("--target siracusa:chips=2 --devices=2 -o " + folder)
        .contains("&lt;/script&gt;&lt;script&gt;");
    for (String section :
        List.of("overview", "partition", "timeline", "memory", "syncs", "roofline", "energy")) {
      assertThat(document).contains("<section").contains("id=\"" + section + "\"");
    }
    assertThat(document).contains("has not been run").contains("<canvas");
  }

  @Test
  void figuresAreThoseOfThePlan() throws IOException, InterruptedException {
    Path module = module();
    Path page = scratch.resolve("out/planned.html");
    Path folder = scratch.resolve("planned");
    done(
        "compile",
        module,
        "--target",
        TARGET,
        "--plan",
        TARGET,
        "--devices=2",
        "-o",
        folder,
        "--report",
        page);
    Map<String, Object> plan =
        done("plan", module, "--target", TARGET, "--devices=2", "--json").json();
    Browser browser = Browser.start(scratch);
    String document = browser.document(page, "");
    assertFiguresOfPlan(document, plan);
    assertThat(document).contains("partita compile " + module + " --target");
  }

  private static void assertFiguresOfPlan(String document, Map<String, Object> plan) {
    for (String key : List.of("seconds", "interval", "joules", "syncsPerBlock")) {
      assertThat(Browser.figure(document, key))
          .as(key)
          .isEqualTo(((Number) plan.get(key)).doubleValue());
    }
    ((Map<?, ?>) plan.get("energy"))
        .forEach(
            (part, joules) ->
                assertThat(Browser.figure(document, "energy." + part))
                    .isEqualTo(((Number) joules).doubleValue()));
    int number = 0;
    for (Object sync : (List<?>) plan.get("syncs")) {
      Map<?, ?> fields = (Map<?, ?>) sync;
      assertThat(Browser.figure(document, "sync." + number + ".bytes"))
          .isEqualTo(((Number) fields.get("bytes")).doubleValue());
      assertThat(Browser.figure(document, "sync." + number + ".seconds"))
          .isEqualTo(((Number) fields.get("seconds")).doubleValue());
      number++;
    }
    assertThat(number).isPositive();
  }

  @Tag("thorough")
  @Test
  void figuresAreThoseOfTheLastRun() throws IOException, InterruptedException {
    Path folder = SmallChipProgram.compiled(scratch, 2);
    List<Object> run = new ArrayList<>(List.of("run", folder, "--json", "--profile"));
    run.addAll(SmallChipProgram.on(Port.HOST));
    run.addAll(
        List.of(
            "--inputs", SmallChipProgram.inputs(scratch), "--outputs", scratch.resolve("o.npz")));
    Map<String, Object> measured = done(run.toArray()).json();
    Path page = scratch.resolve("run.html");
    done("report", folder, "-o", page);
    assertFiguresOfRun(Browser.start(scratch).document(page, ""), measured);
  }

  private static void assertFiguresOfRun(String document, Map<String, Object> measured) {
    assertThat(Browser.figure(document, "measured"))
        .isEqualTo(((Number) ((Map<?, ?>) measured.get("measured")).get("cycles")).doubleValue());
    for (Object chip : (List<?>) measured.get("chips")) {
      Map<?, ?> fields = (Map<?, ?>) chip;
      assertThat(Browser.figure(document, "predicted." + fields.get("chip")))
          .isEqualTo(((Number) ((Map<?, ?>) fields.get("predicted")).get("cycles")).doubleValue());
    }
  }

  /** Products and norms of Tenstorrent chips, in pages; a norm has neither depth nor parts. */
  @Tag("thorough")
  @Test
  void blocksOnCoresAreShown() throws IOException, InterruptedException {
    Path module = scratch.resolve("blocks.pir");
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @blocks(%x: f32[70,96], %w: f32[96,130], %s: f32[96]) -> ("y": f32[70,130]) {
            %0 = rms_norm(%x, %s) {axis = 1, epsilon = 1.0E-5, scale} : f32[70,96] "norm"
            %1 = linear(%0, %w) : f32[70,130] "product"
            %2 = mul(%1, %1) : f32[70,130] "y"
            return %2
          }
        }
        """);
    Path folder = scratch.resolve("blocks");
    done("compile", module, "--target=n150", "-o", folder);
    String report = Files.readString(folder.resolve("report.json")).replaceAll("\\s", "");
    assertThat(report)
        .contains(
            "\"blocks\":{\"cores\":[3,1],\"pages\":[3,3],\"block\":[1,3],\"multicast\":[\"scale\"]}")
        .contains(
            "\"blocks\":{\"cores\":[3,5],\"pages\":[3,5],\"block\":[1,1],\"depth\":3,"
                + "\"subblock\":[1,1],\"multicast\":[\"left\",\"right\"]}");
    done("report", folder);
    String document = Browser.start(scratch).document(folder.resolve("report.html"), "");
    assertThat(document)
        .contains("data-ready=\"true\"", "Blocks on cores, in pages", "between DRAM and L1")
        .contains("<td>3 × 5</td><td>3 × 5</td><td>1 × 1</td>", "<td>left, right</td>");
  }

  /** Tests a model of 42 million parameters. */
  @Test
  @Tag("exhaustive")
  void aLargeModelHasASmallPage() throws IOException, InterruptedException {
    Path model = scratch.resolve("tinyllama.onnx");
    done("zoo", "tinyllama-42m", "--mode", "decode", "-o", model);
    Path folder = scratch.resolve("chips");
    List<Object> choice =
        List.of(model, "--target=siracusa", "--devices=8", "--strategy=tensor=8", "--dim=past=128");
    List<Object> compile = new ArrayList<>(List.of("compile", "--plan=siracusa", "-o", folder));
    compile.addAll(choice);
    done(compile.toArray());
    List<Object> plan = new ArrayList<>(List.of("plan", "--json"));
    plan.addAll(choice);
    Map<String, Object> planned = done(plan.toArray()).json();
    Path inputs = scratch.resolve("inputs.npz");
    try (OutputStream out = Files.newOutputStream(inputs)) {
      Npz.write(
          Map.of(
              "input_ids",
              Tensor.longs(Shape.of(1, 1), 5),
              "position",
              Tensor.longs(Shape.of(1), 0)),
          out);
    }
    Map<String, Object> measured =
        done("run", folder, "--profile", "--json", "--inputs", inputs, "-o", "/dev/null").json();
    done("report", folder);
    Path page = folder.resolve("report.html");
    assertThat(Files.size(page)).isLessThan(MAX_BYTES);
    String document = Browser.start(scratch).document(page, "");
    assertFiguresOfPlan(document, planned);
    assertFiguresOfRun(document, measured);
  }

  @Tag("thorough")
  @Test
  void programsAndPlansWithoutSchedulesHaveReports() throws IOException, InterruptedException {
    Path module = module();
    Path java = scratch.resolve("java.html");
    done(
        "compile",
        module,
        "--target=java",
        "--devices=2",
        "-o",
        scratch.resolve("java"),
        "--report",
        java);
    Path laptops = scratch.resolve("laptops.html");
    Map<String, Object> plan =
        done("plan", module, "--target=wifi-laptops", "--devices=2", "--json", "--report", laptops)
            .json();
    Browser browser = Browser.start(scratch);
    assertThat(browser.document(java, ""))
        .contains("data-ready=\"true\"")
        .contains("id=\"partition\"")
        .contains("id=\"syncs\"")
        .doesNotContain("id=\"timeline\"");
    String document = browser.document(laptops, "");
    assertThat(document).contains("data-ready=\"true\"").contains("id=\"timeline\"");
    assertThat(Browser.figure(document, "seconds"))
        .isEqualTo(((Number) plan.get("seconds")).doubleValue());
  }

  /** Tests keys, pointer and buttons, and what a screen reader is told. */
  @Tag("thorough")
  @Test
  void theTimelineCanBeExplored() throws IOException, InterruptedException {
    Path folder = program();
    done("report", folder);
    String result =
        Browser.start(scratch)
            .act(
                folder.resolve("report.html"),
                """
                const area = document.querySelector('#timeline [role=application]');
                const drawn = () => echarts.getInstanceByDom(area).getOption();
                const shown = () => drawn().dataZoom[0].endValue - drawn().dataZoom[0].startValue;
                const told = () => document.querySelector('#timeline [aria-live=polite]').textContent;
                const press = key => area.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
                const button = name => [...document.querySelectorAll('#timeline button')].find(each => each.textContent === name);
                const say = (name, isTrue) => { result += name + '=' + isTrue + '\\n'; };
                area.focus();
                say('focus', document.activeElement === area && area.getAttribute('aria-label').startsWith('Timeline of 2 devices'));
                press('n');
                const first = told();
                press('n');
                say('next', /^step \\d+: /.test(first) && told() !== first);
                press('p');
                say('previous', told() === first);
                const whole = shown();
                press('+');
                say('zoom in', Math.abs(shown() - whole / 2) < whole / 100);
                press('0');
                say('zoom out', Math.abs(shown() - whole) < whole / 100);
                const path = drawn().series[1].data.length;
                button('Critical path').click();
                say('critical path', path > 0 && drawn().series[1].data.length === 0 && button('Critical path').getAttribute('aria-pressed') === 'false');
                press('+');
                press('+');
                press('+');
                const part = shown();
                button('Show').click();
                say('gap', part < shown());
                press('0');
                const box = area.getBoundingClientRect();
                const tip = document.getElementById('tip');
                const hovered = [140, 340, 540, 740].some(x => {
                  const at = { clientX: box.left + x, clientY: box.top + 18, bubbles: true };
                  area.querySelector('canvas').dispatchEvent(new MouseEvent('mousemove', at));
                  return !tip.hidden && tip.textContent.startsWith('step ');
                });
                say('hover', hovered);
                dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
                say('escape', tip.hidden);
                const charts = [...document.querySelectorAll('.chart')];
                say('names', charts.every(each => each.getAttribute('aria-label')));
                say('tables', ['timeline', 'memory', 'syncs', 'roofline', 'energy'].every(id => document.querySelector('#' + id + ' table')));
                // Short gaps of one device one after the other aren't several devices in one row.
                const gap = (device, start) => ({ device, start, end: start + plan.seconds / 50, reasons: new Map([['waiting', 1]]) });
                const soon = plan.seconds / 1000;
                const rows = alikeGaps([gap(1, 0), gap(0, 0), gap(0, soon), gap(1, soon)]);
                say('alike gaps', rows.map(row => row.devices.join()).join(' ') === '0,1 0,1');
                say('headings', [...document.querySelectorAll('section')].every(each => document.getElementById(each.getAttribute('aria-labelledby'))));
                """);
    assertThat(result.lines()).hasSize(13).allMatch(line -> line.endsWith("=true"));
  }

  @Tag("thorough")
  @Test
  void looksAsBefore() throws IOException, InterruptedException {
    Path folder = program();
    done("report", folder);
    Browser browser = Browser.start(scratch);
    for (String theme : List.of("light", "dark")) {
      Path picture = scratch.resolve(theme + ".png");
      browser.screenshot(folder.resolve("report.html"), "#theme=" + theme, 1280, 2400, picture);
      Path golden = Path.of("src/test/resources/golden/report/" + theme + ".png");
      assertThat(Picture.differenceToGolden(picture, golden)).as(theme).isLessThan(0.04);
    }
    assertThat(Picture.difference(scratch.resolve("light.png"), scratch.resolve("dark.png")))
        .isGreaterThan(0.9);
  }

  @Test
  void mistakesAreDiagnostics() throws IOException {
    Path folder = program();
    Path none = Files.createDirectories(scratch.resolve("none"));
    assertThat(Invocation.of("report", none).err()).contains("P6032");
    Path run = Files.writeString(scratch.resolve("run.json"), "{}");
    Invocation wrong = Invocation.of("report", folder, "--run", run);
    assertThat(wrong.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(wrong.err()).contains("P6005").contains("another format");
    Files.writeString(run, "{\"format\": \"partita-run-1\", \"chips\": [{\"steps\": []}]}");
    assertThat(Invocation.of("report", folder, "--run", run).err())
        .contains("P6005")
        .contains("no measured cycles");
    Path report = folder.resolve("report.json");
    Files.writeString(report, Files.readString(report).replace("hostile.pir", "another.pir"));
    assertThat(Invocation.of("report", folder).err()).contains("P5030").contains("report.json");
    assertThat(folder.resolve("report.html")).doesNotExist();
  }
}
