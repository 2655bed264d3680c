/**
 * Values as strided views of memory regions, so that operations that only move elements take no
 * time.
 */
package io.partita.passes.schedule.view;
