package io.partita.backend.java.code;

/** A Java expression and its primitive type; the text binds at least as tightly as a cast. */
record Term(String text, String type) {
  /** Casts to a type, unless the term already has it. */
  Term as(String target) {
    return type.equals(target) ? this : new Term("(" + target + ") (" + text + ")", target);
  }

  /** Whether the type is narrower than {@code int}. */
  boolean isNarrow() {
    return type.equals("byte") || type.equals("short");
  }
}
