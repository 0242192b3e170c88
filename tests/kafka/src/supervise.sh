# Runs one process that cannot outlive the tests.
#
#   sh -c "$(cat supervise.sh)" supervise FOLDER LOG COMMAND...
#
# Standard input is a pipe whose other end only the test process holds. A line on it is the signal to end the process
# with; its folder stays for a restart. The end of the pipe is the end of the test process, whatever ended it: the
# process is killed and its folder removed.
folder=$1
log=$2
shift 2
"$@" </dev/null >>"$log" 2>&1 &
process=$!
if read -r signal; then
    kill -s "$signal" "$process"
    wait "$process"
else
    kill -s KILL "$process"
    wait "$process"
    rm -rf "$folder"
fi
