#!/bin/sh
# install.sh DIR: npm packages of versions.txt, each in DIR/NAME-VERSION, without touching anything else. What is there stays.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
while read -r name package; do
	to=$1/$name-${package##*@}
	[ -e "$to/node_modules/.bin/$name" ] && continue
	mkdir -p "$to"
	echo '{"private":true}' > "$to/package.json"
	(cd "$to" && npm install --no-audit --no-fund --loglevel=error "$package" > install.log 2>&1) ||
		echo "NOTE: $package cannot be installed here: $(tail -n 1 "$to/install.log")"
done < "$here/versions.txt"
