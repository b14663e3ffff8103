//! The two numbers that describe a row of samples.

/// The middle of the samples; the mean of the two middle ones when their number is even.
pub(crate) fn median(samples: &[f64]) -> f64 {
    let sorted = sorted(samples);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The smallest sample that nine of ten do not exceed.
pub(crate) fn p90(samples: &[f64]) -> f64 {
    let rank = (samples.len() * 9).div_ceil(10);
    sorted(samples).get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
