/** Files that are written whole or not at all, and descriptions of what they hold. */
package io.partita.ir.file;
