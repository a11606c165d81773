# shellcheck shell=sh
# What `test` and `demo` share: a machine that has what is needed, and a configured build. Meant to be sourced by a
# script in scripts/; afterwards the current folder is the repository's root.
#
#   show_help_for "$1"        for -h and --help prints the comment at the head of the script and exits with 0
#   install_packages          apt-get on Debian and Ubuntu, and only when something is missing
#   begin_python_environment  .venv with the packages of scripts/requirements.txt, made anew when that file changes, while
#   finish_python_environment other work goes on; and waits for it
#   find_onnxruntime_headers  prints a folder, fetched when it is not there
#   build_in DIR [OPTION...]  configures (or reconfigures) and builds $targets. In build/ the options begin with
#                             $plain_options, so that no script builds again what another has built there
set -eu
targets=all
# shellcheck disable=SC2034 # of the scripts that source this
plain_options=-Dwerror=true
cd "$(dirname "$0")/.."

say()
{
    printf '== %s\n' "$*"
}

give_up()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

show_help_for()
{
    case $1 in
    -h | --help)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "scripts/$(basename "$0")" | grep -v '^shellcheck'
        exit 0
        ;;
    esac
}

# What a script does not know ends it before anything is installed or built.
refuse_option()
{
    case $1 in
    -*)
        printf '%s: unknown option %s (see --help)\n' "$(basename "$0")" "$1" >&2
        exit 2
        ;;
    esac
}

# Runs a noisy command; its output is shown only when it fails.
quietly()
{
    quiet_log=$(mktemp)
    quiet_status=0
    "$@" >"$quiet_log" 2>&1 || quiet_status=$?
    [ "$quiet_status" -eq 0 ] || cat "$quiet_log" >&2
    rm -f "$quiet_log"
    return "$quiet_status"
}

has_command()
{
    command -v "$1" >/dev/null 2>&1
}

has_header()
{
    printf '#include <%s>\n' "$1" | cc -E -o /dev/null - >/dev/null 2>&1
}

can_make_environments()
{
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1
}

# One line per thing that is needed and not there: the Debian package that brings it.
list_missing_packages()
{
    { has_command cc && has_header stdio.h; } || echo build-essential
    has_command pkg-config || echo pkg-config
    has_command ninja || echo ninja-build
    has_command meson || echo meson
    has_command python3 || echo python3
    can_make_environments || echo python3-venv
    [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
    has_header z3.h || echo libz3-dev
    has_command cvc5 || echo cvc5
    has_header xxhash.h || echo libxxhash-dev
    has_header dnnl.h || echo libdnnl-dev
    has_header coin/Cbc_C_Interface.h || echo coinor-libcbc-dev
    has_header jansson.h || echo libjansson-dev
    has_header cmocka.h || echo libcmocka-dev
}

as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

apt_get()
{
    quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

install_packages()
{
    missing=$(list_missing_packages | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    has_command apt-get || give_up "these Debian packages, or what they hold, are missing: $missing"
    [ "$(id -u)" -eq 0 ] || has_command sudo || give_up "root or sudo is needed to install: $missing"
    say "installing $missing"
    apt_get update || give_up "apt-get update failed"
    # shellcheck disable=SC2086 # one word per package
    apt_get install --no-install-recommends $missing || give_up "apt-get could not install: $missing"
}

environment_is_current()
{
    .venv/bin/python3 -c 'import numpy, onnx, onnxruntime' >/dev/null 2>&1 || return 1
    [ -L .venv ] || cmp -s scripts/requirements.txt .venv/requirements.txt
}

begin_python_environment()
{
    packages=
    environment_is_current && return 0
    [ ! -L .venv ] || give_up ".venv is a link to an environment that lacks packages of scripts/requirements.txt"
    say "making .venv with numpy, onnx and onnxruntime"
    rm -rf .venv
    quietly python3 -m venv .venv || give_up "python3 -m venv failed"
    packages_log=$(mktemp)
    .venv/bin/python3 -m pip install --disable-pip-version-check -r scripts/requirements.txt >"$packages_log" 2>&1 &
    packages=$!
    trap 'kill "$packages" 2>/dev/null || true; rm -f "$packages_log"' EXIT
    trap 'exit 1' INT TERM
}

finish_python_environment()
{
    [ -n "$packages" ] || return 0
    if ! wait "$packages"; then
        cat "$packages_log" >&2
        give_up "pip could not install scripts/requirements.txt"
    fi
    trap - EXIT INT TERM
    rm -f "$packages_log"
    cp scripts/requirements.txt .venv/requirements.txt
}

# The folder of ONNX Runtime's headers, which the provider for it is built with; nothing where there are none.
find_onnxruntime_headers()
{
    if [ ! -e .venv/include/onnxruntime/onnxruntime_c_api.h ]; then
        scripts/lib/onnxruntime-headers .venv/include/onnxruntime ||
            say "the provider for ONNX Runtime is not built" >&2
    fi
    [ ! -e .venv/include/onnxruntime/onnxruntime_c_api.h ] || echo "$PWD/.venv/include/onnxruntime"
}

configure_in()
{
    if [ -f "$1/build.ninja" ] && meson configure "$@" >/dev/null 2>&1; then
        return 0
    fi
    rm -rf "$1"
    quietly meson setup "$@"
}

build_in()
{
    say "building $targets in $1/"
    configure_in "$@" || give_up "meson could not configure $1/"
    quietly ninja -C "$1" "$targets" || give_up "the build in $1/ failed"
}
