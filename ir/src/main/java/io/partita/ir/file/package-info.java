/** Files that are written whole or not at all. */
package io.partita.ir.file;
