package io.partita.backend.metalium;

import java.net.URL;
import java.util.Locale;
import java.util.Map;
import org.stringtemplate.v4.ST;
import org.stringtemplate.v4.STErrorListener;
import org.stringtemplate.v4.STGroupFile;
import org.stringtemplate.v4.misc.STMessage;

/** Prints kernels and programs. A missing template or attribute is a bug. */
final class Templates {
  private final STGroupFile group;

  Templates() {
    URL url = Templates.class.getResource("metalium.stg");
    group = new STGroupFile(url, "UTF-8", '$', '$');
    group.setListener(new Failing());
  }

  String print(String template, Map<String, ?> attributes) {
    ST text = group.getInstanceOf(template);
    if (text == null) {
      throw new IllegalStateException("no template " + template);
    }
    attributes.forEach(text::add);
    // Empty parts of a template leave empty lines.
    return text.render(Locale.ROOT, 0)
            .replaceAll("(?m)[ ]+$", "")
            .replaceAll("\n{3,}", "\n\n")
            .replaceAll("\n\n( *})", "\n$1")
            .replaceAll("\\{\n\n", "{\n")
            .strip()
        + "\n";
  }

  private static final class Failing implements STErrorListener {
    @Override
    public void compileTimeError(STMessage message) {
      throw new IllegalStateException(message.toString());
    }

    @Override
    public void runTimeError(STMessage message) {
      throw new IllegalStateException(message.toString());
    }

    @Override
    public void IOError(STMessage message) {
      throw new IllegalStateException(message.toString());
    }

    @Override
    public void internalError(STMessage message) {
      throw new IllegalStateException(message.toString());
    }
  }
}
