package io.partita.backend.java.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.UnrecoverableKeyException;
import java.security.cert.CertificateException;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * The key that the processes of all devices share, in a PKCS #12 file. Connections use TLS 1.3:
 * each end presents the key's certificate, proves that it holds the key, and accepts no other key.
 */
final class Credentials {
  private static final String PROTOCOL = "TLSv1.3";

  /** The password of the file. It protects nothing: whoever has the file has the key. */
  private static final String PASSWORD = "partita";

  private static final int DRAIN_MILLISECONDS = 1000;

  private final SSLSocketFactory sockets;

  /**
   * Reads a key.
   *
   * @throws Channels.Failure with {@link Channels.Reason#KEY} if the file can't be read or holds no
   *     key
   */
  Credentials(Path file) {
    try {
      sockets = context(keys(file)).getSocketFactory();
    } catch (NoSuchFileException absent) {
      throw unusable(file, "no such file", absent);
    } catch (AccessDeniedException refused) {
      throw unusable(file, "no permission to read it", refused);
    } catch (IOException | GeneralSecurityException wrong) {
      boolean isProtected = wrong.getCause() instanceof UnrecoverableKeyException;
      String found =
          isProtected ? "a key with another password" : "not a PKCS #12 file, or a damaged one";
      throw unusable(file, found, wrong);
    }
  }

  private static Channels.Failure unusable(Path file, String found, Exception cause) {
    return new Channels.Failure(Channels.Reason.KEY, 0, file + ": " + found, cause);
  }

  private static KeyStore keys(Path file) throws IOException, GeneralSecurityException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw unusable(file, "not a file", null);
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    for (String alias : Collections.list(keys.aliases())) {
      if (keys.isKeyEntry(alias)) {
        return keys;
      }
    }
    throw unusable(file, "certificates without a key", null);
  }

  private static SSLContext context(KeyStore keys) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    for (String alias : Collections.list(keys.aliases())) {
      trusted.setCertificateEntry(alias, keys.getCertificate(alias));
    }
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, PASSWORD.toCharArray());
    TrustManagerFactory others =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    others.init(trusted);
    SSLContext context = SSLContext.getInstance(PROTOCOL);
    context.init(own.getKeyManagers(), others.getTrustManagers(), null);
    return context;
  }

  /** Encrypts a connection, with a peer that holds the key. */
  SSLSocket secured(Socket socket, boolean isCaller) throws IOException {
    String host = socket.getInetAddress().getHostAddress();
    SSLSocket secured = (SSLSocket) sockets.createSocket(socket, host, socket.getPort(), false);
    secured.setEnabledProtocols(new String[] {PROTOCOL});
    secured.setUseClientMode(isCaller);
    secured.setNeedClientAuth(true);
    try {
      secured.startHandshake();
    } catch (SSLException refused) {
      drain(socket);
      throw refused;
    }
    return secured;
  }

  /**
   * Reads what a peer still sends after a failed handshake. Closing a connection with unread bytes
   * resets it, and a peer that hasn't read the alert by then never learns why.
   */
  private static void drain(Socket socket) {
    try {
      socket.shutdownOutput();
      socket.setSoTimeout(DRAIN_MILLISECONDS);
      InputStream in = socket.getInputStream();
      byte[] block = new byte[1 << 14];
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLISECONDS);
      while (in.read(block) >= 0 && System.nanoTime() < deadline) {
        // What it sends isn't needed.
      }
    } catch (IOException closed) {
      // The peer has closed the connection, or is silent.
    }
  }

  /** Whether a connection failed because the other end has a different key. */
  static boolean isOtherKey(IOException failure) {
    return failure instanceof SSLException
        && (failure.getCause() instanceof CertificateException
            || String.valueOf(failure.getMessage()).contains("certificate"));
  }
}
