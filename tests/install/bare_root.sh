# To be sourced: a bare Debian root in a folder, and commands in it. Needs root, in a mount namespace of its own.

# The archive of a root of a Debian release with nothing in it, made once: `base_archive RELEASE FILE`. Packages come
# from the mirror that this machine uses.
base_archive() {
  [[ -s $2 ]] && return
  local mirror
  mirror=$("$source/docker/debian_mirror.sh")
  [[ -n $mirror ]] || { echo "this machine's apt has no Debian mirror" >&2; return 3; }
  mmdebstrap --quiet --format=tar --variant=minbase "$1" "$2.part" "deb $mirror $1 main"
  mv "$2.part" "$2"
}

# A root in FOLDER from ARCHIVE, that reaches the network as this machine does: `bare_root ARCHIVE FOLDER CACHE`.
# Downloads and compiled objects are kept in CACHE.
bare_root() {
  rm -rf "$2"
  mkdir -p "$2" "$3/apt" "$3/home"
  # A mount point, as every root is.
  mount --bind "$2" "$2"
  tar -C "$2" --exclude='./dev/*' -xf "$1"
  mount -t proc proc "$2/proc"
  mount --rbind /dev "$2/dev"
  mkdir -p "$2/root/.cache"
  mount --bind "$3/home" "$2/root/.cache"
  mount --bind "$3/apt" "$2/var/cache/apt/archives"
  echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/unsafe-io"
  as_this_machine "$2"
}

# Name servers, pip's settings and the certificates that this machine's administrator trusts: `as_this_machine FOLDER`.
as_this_machine() {
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
  [[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$1/etc/pip.conf"
  mkdir -p "$1/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$1/usr/local/share/ca-certificates/" \;
}

# The settings of package tools in this environment: `package_settings`, one NAME=VALUE a line.
package_settings() {
  env | grep -E '^(PIP_|UV_|SSL_CERT_FILE=|[a-zA-Z]+_(proxy|PROXY)=)' || true
}

# A command in the root, with these settings and nothing else of this environment: `inside FOLDER COMMAND...`.
inside() {
  local settings
  mapfile -t settings < <(package_settings)
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${settings[@]}" chroot "$1" "${@:2}"
}
