// Messages over a socket between two processes: a length, and so many bytes.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

namespace gemm {

inline bool send_all(int socket, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

inline bool receive_all(int socket, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = recv(socket, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

inline bool send_message(int socket, const std::string& message) {
  const std::size_t size = message.size();
  return send_all(socket, reinterpret_cast<const char*>(&size), sizeof size) &&
         send_all(socket, message.data(), message.size());
}

/// Nothing at the end of the connection, or if the message is longer than that.
inline std::optional<std::string> receive_message(int socket, std::size_t most = std::size_t(-1) / 2) {
  std::size_t size = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&size), sizeof size) || size > most) return std::nullopt;
  std::string message(size, '\0');
  if (!receive_all(socket, message.data(), size)) return std::nullopt;
  return message;
}

}  // namespace gemm
