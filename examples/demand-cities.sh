#!/usr/bin/env bash
# Choice by demand in published SUMO scenarios, and on the letter's corridor with SUMO's traffic, beside its rivals: six seeds of 5 s + 10 s a city, d_min as it is by default. Options were frozen before.
# Of these, Bologna was used for tuning; the others were not. Some 30 CPU min; `cargo xtask results` puts the tables into docs/beyond-the-letter.md.
#
#   examples/demand-cities.sh RESCO SUMO-SCENARIOS VEINS [OUT]
#
# with check-outs of github.com/Pi-Star-Lab/RESCO, github.com/DLR-TS/sumo-scenarios and github.com/sommer/veins.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,8p' "$0" >&2; exit 2; }
resco=$1/resco_benchmark/environments dlr=$2 veins=$3/examples/veins out=${4:-out/demand-cities}
covey=${COVEY:-target/release/covey}
arms=(demand demand@0.15 autocast@0.15 autocast@0.3 autocast@0.4 proposed@0.4 proposed-lean@0.4
  random-redraw@0.4 cmass@0.4 cpm-utility cpm-etsi multihop requests@0.15)

# NAME, then what to run.
evaluate() {
  local name=$1
  shift
  "$covey" run "$@" --seeds 201..=206 --warmup 5 --measure 10 "${arms[@]/#/--arm=}" --out "$out/$name"
}

# NAME, second of SUMO's time at which ours begins, configuration, more options.
city() {
  local name=$1 begin=$2 file=$3
  shift 3
  evaluate "$name" --sumocfg "$file" --begin "$begin" "$@"
}

city "Bologna, Andrea Costa" 600 "$dlr/bologna/acosta/run.sumocfg"
city "Ingolstadt, 21 junctions" 60000 "$resco/ingolstadt21/ingolstadt21.sumocfg"
city "Cologne, 8 junctions" 26000 "$resco/cologne8/cologne8.sumocfg"
city "Hamburg, test field" 900 "$dlr/TAVF-Hamburg/run_simulation.sumocfg"
city "Wildau" 55000 "$dlr/Wildau/flow1_Spaet.sumocfg"
city "Berlin, Dörpfeldstraße" 52000 "$dlr/Doerpfeldstr/all_modes.sumocfg"
city "Brunswick, port" 200 "$dlr/port_tutorials/port_brunswick/osm.sumocfg" \
  --buildings "$dlr/port_tutorials/port_brunswick/osm.poly.xml"
city "Erlangen" 200 "$veins/erlangen.sumo.cfg"
evaluate "the letter's corridor" scenarios/tamagawa/scenario.toml --traffic sumo
