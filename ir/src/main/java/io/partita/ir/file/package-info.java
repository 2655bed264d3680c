/** Atomic writing of files and folders. */
package io.partita.ir.file;
