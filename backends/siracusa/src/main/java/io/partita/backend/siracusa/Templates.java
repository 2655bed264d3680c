package io.partita.backend.siracusa;

import io.partita.backend.siracusa.model.Piece;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.util.Optional;
import org.stringtemplate.v4.Interpreter;
import org.stringtemplate.v4.ModelAdaptor;
import org.stringtemplate.v4.ST;
import org.stringtemplate.v4.STErrorListener;
import org.stringtemplate.v4.STGroupFile;
import org.stringtemplate.v4.misc.STMessage;
import org.stringtemplate.v4.misc.STNoSuchPropertyException;

/**
 * Prints the output model. A missing template, or one that reads a property that its record lacks,
 * is a bug.
 */
final class Templates {
  private static final Templates CODE = new Templates("c.stg");
  private static final Templates MAKEFILES = new Templates("make.stg");

  private final STGroupFile group;

  private Templates(String file) {
    URL url = Templates.class.getResource(file);
    if (url == null) {
      throw new IllegalStateException("no templates " + file);
    }
    group = new STGroupFile(url, "UTF-8", '<', '>');
    group.setListener(new Failing());
    group.registerModelAdaptor(Record.class, new Components());
  }

  /** The templates of C and text, and those of makefiles. */
  static String print(Piece piece) {
    boolean isMakefile = piece instanceof io.partita.backend.siracusa.model.Makefile;
    return (isMakefile ? MAKEFILES : CODE).render(piece);
  }

  /** A group compiles each template when it is first used, so renders in one thread at a time. */
  private synchronized String render(Piece piece) {
    ST template = group.getInstanceOf(piece.template());
    if (template == null) {
      throw new IllegalStateException("no template " + piece.template());
    }
    template.add("it", piece);
    String text = template.render(java.util.Locale.ROOT, 0);
    // Empty parts of a template leave empty lines.
    return text.replaceAll("(?m)[ \t]+$", "")
        .replaceAll("\n{3,}", "\n\n")
        .replaceAll("\n\n( *[ }])", "\n$1");
  }

  /** Gives templates access to the components and methods of records. */
  private static final class Components implements ModelAdaptor<Record> {
    @Override
    public Object getProperty(
        Interpreter interpreter, ST self, Record record, Object property, String name)
        throws STNoSuchPropertyException {
      try {
        Object value = record.getClass().getMethod(name).invoke(record);
        return value instanceof Optional<?> optional ? optional.orElse(null) : value;
      } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
        throw new STNoSuchPropertyException(e, record, record.getClass() + "." + name);
      }
    }
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
