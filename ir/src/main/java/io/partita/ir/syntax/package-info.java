/** What the parsers of all text forms have in common: how they say what is wrong, and where. */
package io.partita.ir.syntax;
