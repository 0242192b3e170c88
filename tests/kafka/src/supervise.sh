# Runs one broker that cannot outlive the tests.
#
#   sh -c "$(cat supervise.sh)" supervise FOLDER COMMAND...
#
# Standard input is a pipe whose other end only the test process holds. A line on it is the signal to end the broker
# with; its folder stays for a restart. The end of the pipe is the end of the test process, whatever ended it: the
# broker is killed and its folder removed.
folder=$1
shift
"$@" </dev/null >>"$folder/kafka.log" 2>&1 &
broker=$!
if read -r signal; then
    kill -s "$signal" "$broker"
    wait "$broker"
else
    kill -s KILL "$broker"
    wait "$broker"
    rm -rf "$folder"
fi
