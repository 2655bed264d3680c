package io.partita.backend.java.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.util.Collections;
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

  private final SSLSocketFactory sockets;

  /**
   * Reads a key.
   *
   * @throws IOException if the file holds no key
   */
  Credentials(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore keys = KeyStore.getInstance("PKCS12");
      keys.load(in, PASSWORD.toCharArray());
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      for (String alias : Collections.list(keys.aliases())) {
        trusted.setCertificateEntry(alias, keys.getCertificate(alias));
      }
      KeyManagerFactory own =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      own.init(keys, PASSWORD.toCharArray());
      TrustManagerFactory others =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      others.init(trusted);
      SSLContext context = SSLContext.getInstance(PROTOCOL);
      context.init(own.getKeyManagers(), others.getTrustManagers(), null);
      sockets = context.getSocketFactory();
    } catch (GeneralSecurityException wrong) {
      throw new IOException(file + " isn't a key of devices: " + wrong.getMessage(), wrong);
    }
  }

  /** Encrypts a connection, with a peer that holds the key. */
  SSLSocket secured(Socket socket, boolean isCaller) throws IOException {
    String host = socket.getInetAddress().getHostAddress();
    SSLSocket secured = (SSLSocket) sockets.createSocket(socket, host, socket.getPort(), true);
    secured.setEnabledProtocols(new String[] {PROTOCOL});
    secured.setUseClientMode(isCaller);
    secured.setNeedClientAuth(true);
    secured.startHandshake();
    return secured;
  }

  /** Whether a connection failed because the other end has a different key. */
  static boolean isOtherKey(IOException failure) {
    return failure instanceof SSLException
        && (failure.getCause() instanceof CertificateException
            || String.valueOf(failure.getMessage()).contains("certificate"));
  }
}
