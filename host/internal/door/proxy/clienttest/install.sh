#!/bin/sh
# install.sh DIR: the npm packages of versions.txt, each line in DIR/NAME, without touching anything else. What is there
# stays. Four at a time, because most of it is waiting; what npm has in its cache it does not ask for again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${2:-}" = "" ]; then
	xargs -P 4 -I LINE "$here/install.sh" "$1" LINE < "$here/versions.txt"
	exit
fi
install() {
	to=$1/$2
	shift 2
	[ "$(cat "$to/installed" 2>/dev/null)" = "$*" ] && return
	rm -rf "$to"
	mkdir -p "$to"
	echo '{"private":true}' > "$to/package.json"
	if (cd "$to" && npm install --prefer-offline --no-audit --no-fund --loglevel=error "$@" > install.log 2>&1); then
		echo "$*" > "$to/installed"
	else
		echo "NOTE: $(basename "$to") cannot be installed here: $(tail -n 1 "$to/install.log")"
	fi
}
# shellcheck disable=SC2086 # the line is a list
install "$1" $2
