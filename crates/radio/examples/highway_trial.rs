use covey_radio::highway::{Options, published, run};
fn main() {
    let args: Vec<f64> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let mut options = Options::default();
    options.measure_s = args.first().copied().unwrap_or(5.0);
    options.speed_m_per_s = args.get(1).copied().unwrap_or(70.0) / 3.6;
    options.keep_probability = args.get(2).copied().unwrap_or(0.0);
    options.ring = args.get(3).is_some();
    for p in published() {
        let t = std::time::Instant::now();
        let m = run(&p, &options).unwrap();
        print!("S{} {} dBm {} Hz {}: cbr {:.3} {:.3} hd {:.4} {:.4} mad {:.2} |", p.subchannels, p.tx_dbm, p.rate_hz, p.vehicles_per_m, m.cbr, p.cbr, m.half_duplex, p.half_duplex.iter().sum::<f64>()/21.0, 100.0*m.difference(&p));
        for i in [0,2,4,6,8,10,12,14,16,20] { print!(" {}:{:.1}/{:.1}", p.distance_m[i], 100.0*m.pdr[i], 100.0*p.pdr[i]); }
        println!("  {:.1}s", t.elapsed().as_secs_f64());
    }
}
