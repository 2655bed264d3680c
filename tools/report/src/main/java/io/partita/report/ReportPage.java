package io.partita.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One HTML page that needs no other file and no network. Its data is JSON in the page; scripts show
 * it as text, so names of a model can't become markup.
 */
public final class ReportPage {
  /** The scripts in the order in which they run. */
  private static final List<String> SCRIPTS =
      List.of(
          "base.js",
          "overview.js",
          "partition.js",
          "lanes.js",
          "timeline.js",
          "memory.js",
          "syncs.js",
          "kernels.js",
          "measured.js",
          "page.js");

  private static final JSON WRITER =
      JSON.builder(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build()).build();

  private ReportPage() {}

  /**
   * Returns the page.
   *
   * @param title the title of the page
   * @param data what the scripts show
   */
  public static String of(String title, Map<String, ?> data) {
    StringBuilder scripts = new StringBuilder();
    SCRIPTS.forEach(script -> scripts.append(resource(script)));
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("title", escaped(title));
    parts.put("style", resource("style.css"));
    parts.put("charts", resource("echarts.min.js"));
    parts.put("data", json(data));
    parts.put("script", scripts.toString());
    return filled(resource("page.html"), parts);
  }

  /** Replaces each {@code {{name}}} of the page once; what is filled in isn't searched. */
  private static String filled(String page, Map<String, String> parts) {
    StringBuilder out = new StringBuilder();
    int at = 0;
    for (int open = page.indexOf("{{"); open >= 0; open = page.indexOf("{{", at)) {
      int close = page.indexOf("}}", open);
      out.append(page, at, open).append(parts.get(page.substring(open + 2, close)));
      at = close + 2;
    }
    return out.append(page, at, page.length()).toString();
  }

  /** JSON that neither ends the script element around it nor begins a comment. */
  private static String json(Map<String, ?> data) {
    try {
      return WRITER.asString(data).replace("<", "\\u003c").replace(">", "\\u003e");
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static String resource(String name) {
    try (InputStream in = ReportPage.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }
}
