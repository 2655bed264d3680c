/** What a long computation tells its user while it runs. */
package io.partita.ir.progress;
